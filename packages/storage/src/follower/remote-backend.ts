import type { Revision } from '../interfaces.ts'
import type { RemoteStats } from '../stats.ts'

/** A key of a remote store. */
export interface RemoteEntry {
  readonly key: string
  /** The value as the remote store holds it. */
  readonly value: Uint8Array
  readonly revision: Revision
  readonly created: Revision
}

/** A change in a remote store. */
export type RemoteEvent =
  | { readonly type: 'put'; readonly entry: RemoteEntry }
  | { readonly type: 'delete'; readonly key: string; readonly revision: Revision }

export interface RemoteWrite {
  readonly type: 'put' | 'delete'
  readonly key: string
  /** The value to store; empty for deletions. */
  readonly value: Uint8Array
  /** Revision that the key must have; 0: it must not exist. */
  readonly expect: Revision
  /** Seconds after which the key is removed. */
  readonly ttlSeconds?: number | undefined
}

/** `revision` is that of the write; for a conflict, a revision at which the condition did not hold. */
export interface RemoteWriteResult {
  readonly outcome: 'written' | 'conflict'
  readonly revision: Revision
}

/** Receives a subscription, in revision order. */
export interface RemoteSink {
  /** All events of one or more whole revisions. */
  events(events: readonly RemoteEvent[]): void
  /** Every event up to this revision has been delivered. */
  progress(revision: Revision): void
  /** No further calls follow. `compacted`: the events after the start were compacted. */
  ended(reason: 'compacted' | 'lost', error?: unknown): void
}

export interface RemoteSubscription {
  /** Requests a call of `progress`. */
  requestProgress(): void
  close(): void
}

/**
 * A write failed. Its effect:
 *
 *     isRefused          none, and there will be none
 *     isSettled          it has had one or not, and there will be none: one read decides
 *     neither            unknown: it may also take effect later
 */
export class RemoteWriteError extends Error {
  override readonly name = 'RemoteWriteError'
  readonly isRefused: boolean
  readonly isSettled: boolean

  constructor(
    message: string,
    {
      isRefused,
      isSettled = isRefused,
      cause,
    }: { readonly isRefused: boolean; readonly isSettled?: boolean; readonly cause?: unknown },
  ) {
    super(message, { cause })
    this.isRefused = isRefused
    this.isSettled = isSettled
  }
}

/** A remote store, which a follower mirrors and writes to. Every method rejects when the store cannot be reached. */
export interface RemoteBackend {
  /** The newest revision, which includes every write acknowledged to any client before the call. */
  revision(): Promise<Revision>
  /** The oldest revision that can be read. */
  oldest(): Promise<Revision>
  /** Reads all keys of one revision. @param at absent: the newest */
  load(at?: Revision): Promise<{ readonly revision: Revision; readonly entries: AsyncIterable<readonly RemoteEntry[]> }>
  /** Subscribes to the events after a revision. */
  subscribe(from: Revision, sink: RemoteSink): Promise<RemoteSubscription>
  /** @throws RemoteWriteError */
  write(write: RemoteWrite): Promise<RemoteWriteResult>
  compact(revision: Revision): Promise<void>
  /** Absent when the backend has no statistics. */
  readonly stats?: (() => RemoteStats) | undefined
  close(): void
}
