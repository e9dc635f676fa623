/** Figures of a store for operators. */

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
  /** Size of the data file, with the free space in it. */
  readonly fileBytes: number
  /** What of the data file is in use. */
  readonly usedBytes: number
  /** What the disk has left for this process. */
  readonly diskAvailableBytes: number
  /** Commits, each of one or many writes, flushed to disk. */
  readonly commits: DurationCounts
  readonly failedCommits: number
}

export interface StorageStats {
  /** Superseded revisions that can still be read. */
  readonly history: { readonly revisions: number; readonly bytes: number }
  /** Absent: the store keeps nothing on disk. */
  readonly journal?: JournalStats
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
