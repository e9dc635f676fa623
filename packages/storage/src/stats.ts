/** Statistics of a store for operators. */

/** Durations by bucket. */
export interface DurationCounts {
  /** Upper bounds in seconds. */
  readonly bounds: readonly number[]
  /** Per bucket, not cumulative; durations above the last bound are in `total` only. */
  readonly counts: readonly number[]
  readonly total: number
  /** In seconds. */
  readonly sum: number
}

export interface JournalStats {
  /** Size of the data file in bytes, including its free space. */
  readonly fileBytes: number
  /** Used bytes of the data file. */
  readonly usedBytes: number
  /** Disk space available to this process, in bytes. */
  readonly diskAvailableBytes: number
  /** Commits, each of one or many writes, flushed to disk. */
  readonly commits: DurationCounts
  readonly failedCommits: number
}

/** Statistics of the store that a follower mirrors. */
export interface RemoteStats {
  /** Writes that the remote store answered, from sending to the response. */
  readonly commits: DurationCounts
  /** Number of writes that were refused or not answered in time. Conflicts do not count. */
  readonly failedCommits: number
  /** The last report of the space of the remote store; absent before the first report. */
  readonly space?: RemoteSpace
}

export interface RemoteSpace {
  /** Size of the data file in bytes, including its free space. */
  readonly fileBytes: number
  /** Used bytes of the data file. */
  readonly usedBytes: number
  /** Size of the data file above which writes are refused. Absent when it is not reported, as by etcd before 3.6. */
  readonly quotaBytes?: number
  /** Problems that the remote store reports, such as raised alarms. */
  readonly problems: readonly string[]
}

export interface StorageStats {
  /** Superseded revisions that can still be read. */
  readonly history: { readonly revisions: number; readonly bytes: number }
  /** Absent: the store keeps nothing on disk. */
  readonly journal?: JournalStats
  /** Absent: the store does not mirror another one, or that store has no statistics. */
  readonly remote?: RemoteStats
}

/** 1 ms to 8 s, each bound twice the one before. */
const commitBounds = Array.from({ length: 14 }, (_, n) => 2 ** n / 1000)

export class CommitDurations implements DurationCounts {
  readonly bounds = commitBounds
  readonly counts = commitBounds.map(() => 0)
  total = 0
  sum = 0

  observe(seconds: number): void {
    this.total++
    this.sum += seconds
    const at = this.bounds.findIndex((bound) => seconds <= bound)
    if (at >= 0) this.counts[at]!++
  }
}
