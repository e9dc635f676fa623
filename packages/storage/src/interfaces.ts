/**
 * The storage contract: one revision counter, MVCC snapshots, and a window of past events to watch from.
 *
 * Values are opaque bytes. Keys are path-like strings (`/configmaps/default/a`): they begin with `/`, do not end with it, and
 * have at most 4096 UTF-16 code units; a prefix that ends in `/` names a collection. Only durable writes are visible.
 *
 * Worked history of the key `/a/x`, by revision:
 *
 *     1: create v1      get -> v1@1
 *     2: update v2      get -> v2@2, get at 1 -> v1@1
 *     3: delete         get -> nothing, get at 2 -> v2@2; a watch from 1 sees put@2, delete@3
 *     compact(2)        get at 1 -> Compacted; a watch from 1 -> Compacted; from 2 -> delete@3
 */

import type { StorageStats } from './stats.ts'

/** Position in the history of a store: a positive integer that each write increments by one. */
export type Revision = number

/** The value of a key at one revision. Shared, and immutable except for `memo`. */
export interface Entry {
  readonly key: string
  /**
   * Encoded once, when written. A durable store reads superseded values from its files when they are accessed: access a value once, and
   * hold it as long as it is needed.
   *
   * @throws StorageError `Closed` for a value that has to be read after the store closed
   */
  readonly value: Uint8Array
  /** Revision of the write that stored this value. */
  readonly revision: Revision
  /** Revision of the write that created the key. */
  readonly created: Revision
  /**
   * A cache slot for the layer above, which may keep here what it derives from `value`. The memo can be missing at any time: storage never
   * reads or persists it, and clears it some time after a later write to the key, because derived values take several times the memory of
   * the bytes.
   */
  memo: unknown
}

/**
 * Encodes the bytes of a write, whose revision is known only when the write is ordered. A store that orders writes itself calls the
 * function once, synchronously, and not at all for a conflict. A store whose revisions come from a remote store calls it twice: with 0, for
 * the bytes to send, which are stored without a revision; and with the revision of the write. The store owns the returned bytes. When the
 * first call throws, the write has no effect. The function must not write to the same store.
 */
export type Encode = (revision: Revision) => Uint8Array

export interface StorageWriteOptions {
  /** The current revision the key must have; `0` requires that the key does not exist. Absent: unconditional. */
  readonly expect?: Revision
  /** Kept as the `memo` of the new entry. */
  readonly memo?: unknown
}

export type WriteResult =
  | { readonly outcome: 'written'; readonly entry: Entry }
  /** `expect` did not hold; `current` is the visible, durable entry, absent when there is none. */
  | { readonly outcome: 'conflict'; readonly current: Entry | undefined }

export interface StorageListOptions {
  /** The collection: lists all keys that begin with it. Ends in `/`. */
  readonly prefix: string
  /** Lists only keys after this one. A value outside the prefix never widens the result. */
  readonly after?: string
  /** Maximum number of entries; absent or 0 for all. */
  readonly limit?: number
  /** Revision of the snapshot to read, from `compacted` to `revision`; the newest by default. */
  readonly at?: Revision
  /**
   * Lets the store omit entries that do not match. The store may ignore it, so readers must still select; `remaining` does not count
   * omitted entries.
   */
  readonly selection?: ListSelection | undefined
}

/** Entries that a list needs: the store may omit an entry for which any of the selections has another value. */
export interface ListSelection {
  /** The prefix that indexes cover: the prefix of the list or a shorter one, so that lists of several namespaces share the indexes. */
  readonly collection: string
  readonly selections: readonly WatchSelection[]
}

export interface StorageListResult {
  /** Sorted by key, in byte order. */
  readonly entries: readonly Entry[]
  /** Revision of the snapshot that was read. */
  readonly revision: Revision
  /** Number of keys in the prefix after the last returned entry. */
  readonly remaining: number
}

export type StorageEvent =
  | {
      readonly type: 'put'
      readonly key: string
      readonly revision: Revision
      readonly entry: Entry
      readonly previous: Entry | undefined
    }
  /** `entry` holds the last state, encoded with the revision of the deletion. */
  | {
      readonly type: 'delete'
      readonly key: string
      readonly revision: Revision
      readonly entry: Entry
      readonly previous: Entry
    }

/**
 * A subscription. Events arrive in revision order, exactly once, and only when durable.
 *
 *     open --take()--> open --overflow | compacted | close--> ended
 */
export interface Watcher {
  /** All events of the prefix up to this revision have been taken, so a bookmark may carry it. */
  readonly revision: Revision
  /** Removes and returns up to `max` queued events, possibly none. */
  take(max?: number): readonly StorageEvent[]
  /**
   * Set when the watcher was cut off. `overflow`: the watcher fell behind further than `maxPending` or the history window allows, and its
   * queued events are lost. `closed`: the store closed; queued events can still be taken. A new watch can resume at `revision`.
   */
  readonly ended: 'overflow' | 'closed' | undefined
  /** Called on a later turn of the event loop, at most once each time the queue becomes non-empty, and when the watcher ends. */
  onReady: (() => void) | undefined
  close(): void
}

/**
 * Events that a watch needs: the store may omit events whose entry and previous entry both have another value. The store may ignore the
 * selection, and does not apply it to events from before the watch caught up, so readers must still select.
 */
export interface WatchSelection {
  /** Names the kind of value. Selections of one name within one prefix have equal functions `readValue`. */
  readonly index: string
  readonly value: string
  /**
   * The value of an entry; `undefined` when the value is unknown, which selects all watches of the index. Called for entries of events and
   * of indexed collections. Must always return the same value for the same entry, and must not throw.
   */
  readValue(entry: Entry): string | undefined
}

export interface StorageWatchOptions {
  /** A prefix ending in `/`, or a single key. */
  readonly prefix: string
  /** Only events after this revision. */
  readonly from: Revision
  /** Maximum number of queued events before the watcher is cut off, not counting events before its start. Default 10 000. */
  readonly maxPending?: number
  readonly selection?: WatchSelection | undefined
}

export interface Storage extends AsyncDisposable {
  /** Newest visible (durable) revision; at least 1. */
  readonly revision: Revision
  /** Oldest readable revision. */
  readonly compacted: Revision
  /** @throws StorageError `Compacted` or `FutureRevision` when `at` cannot be read. */
  get(key: string, options?: { readonly at?: Revision }): Promise<Entry | undefined>
  /** The newest visible entry, synchronously, as a cache would return it. */
  peek(key: string): Entry | undefined
  /** @throws StorageError `Compacted` or `FutureRevision` when `at` cannot be read. */
  list(options: StorageListOptions): Promise<StorageListResult>
  /** Number of keys under a prefix in the newest snapshot, in O(log n). */
  count(prefix: string): number
  /**
   * Resolves once the write is durable and visible. Writes are ordered as they are called, and conflicts are decided against the
   * newest ordered write; a conflict with a write that is not durable yet is reported once that write is.
   *
   * @throws StorageError `Unavailable` when the write could not be made durable. With the reason `outcome` it may have happened;
   * otherwise it has not. Later writes are rejected for a second, then tried again.
   */
  put(key: string, encode: Encode, options?: StorageWriteOptions): Promise<WriteResult>
  /** `encode` returns the last state for watchers. A missing key is a conflict with `current: undefined`. */
  delete(key: string, encode: Encode, options?: StorageWriteOptions): Promise<WriteResult>
  /** @throws StorageError `Compacted` when `from` is older than the window. A `from` in the future waits for it. */
  watch(options: StorageWatchOptions): Watcher
  /** Resolves to true when `revision` is visible, to false when the signal aborts first. */
  waitFor(revision: Revision, signal: AbortSignal): Promise<boolean>
  /**
   * Resolves when reads reflect every write that was acknowledged before the call, by any process. Absent where reads always do: in a store
   * that only one process uses.
   *
   * @throws StorageError `Unavailable`
   */
  refresh?(): Promise<void>
  /**
   * Whether a write of the same value would change the stored bytes: they are in clear although encryption is configured, or encrypted with
   * a former key. Absent: never.
   */
  isStale?(entry: Pick<Entry, 'key' | 'revision'>): boolean
  /** Sizes and durations, for metrics. Absent when the store has no statistics. */
  stats?(): StorageStats
  /** Drops history before `revision`, which stays readable, as does the newest state. */
  compact(revision: Revision): Promise<void>
  /**
   * Returns the free space of the data file to the disk, which must have room for a copy of the used part. Reads and writes continue;
   * writes wait while the copy replaces the file. Absent for a store without a data file.
   *
   * @throws StorageError `Unavailable` when the copy cannot be made, or `Closed`; the store continues with its old file
   */
  defragment?(): Promise<void>
  /** Waits for pending writes, then ends watchers. Later calls fail with StorageError `Closed`. */
  close(): Promise<void>
}
