/**
 * The storage contract: one revision counter, MVCC snapshots, and a window of past events to watch from.
 *
 * Values are opaque bytes. Keys are path-like strings (`/configmaps/default/a`): they begin with `/`, do not end with it,
 * and hold at most 4096 UTF-16 units; a prefix that ends in `/` names a collection. The newest visible revision only ever
 * covers durable writes.
 *
 * Worked history (revision: what the key `/a/x` holds):
 *
 *     1: create v1      get -> v1@1
 *     2: update v2      get -> v2@2, get at 1 -> v1@1
 *     3: delete         get -> nothing, get at 2 -> v2@2; a watch from 1 sees put@2, delete@3
 *     compact(2)        get at 1 -> Compacted; a watch from 1 -> Compacted; from 2 -> delete@3
 */

/** Position in the history of a store: whole, positive, grows by one with every write. */
export type Revision = number

/** What is stored at a key at one revision. Shared and immutable but for `memo`. */
export interface Entry {
  readonly key: string
  /** Encoded once, when written; never copied afterwards. */
  readonly value: Uint8Array
  /** Revision of the write that made this value. */
  readonly revision: Revision
  /** Revision of the write that created the key. */
  readonly created: Revision
  /**
   * A place for the one reader above to keep what it derived from `value`: a cache, for it can be missing at any time.
   * Storage never reads or persists it, and clears it some while after a later write to the key, since derived values
   * weigh several times what bytes do.
   */
  memo: unknown
}

/**
 * Makes the bytes for a revision that is only known when the write is ordered. Called once, synchronously, and not at all
 * when the write is a conflict. The bytes belong to the store from then on. When it throws, nothing has happened. It must
 * not write to the same store.
 */
export type Encode = (revision: Revision) => Uint8Array

export interface WriteOptions {
  /** Revision the key must have now: `0` = the key must not exist; absent = whatever it has. */
  readonly expect?: Revision
  /** Kept as the `memo` of the new entry. */
  readonly memo?: unknown
}

export type WriteResult =
  | { readonly outcome: 'written'; readonly entry: Entry }
  /** `expect` did not hold; `current` is what is there (visible and durable), absent when nothing is. */
  | { readonly outcome: 'conflict'; readonly current: Entry | undefined }

export interface ListOptions {
  /** Collection: every key that begins with it. Ends in `/`. */
  readonly prefix: string
  /** Only keys strictly after this one; one outside of the prefix never widens it. */
  readonly after?: string
  /** Absent or 0 = all. */
  readonly limit?: number
  /** Snapshot to read, not older than `compacted` and not newer than `revision`; absent = the newest. */
  readonly at?: Revision
}

export interface ListResult {
  /** In key order (byte order). */
  readonly entries: readonly Entry[]
  /** The snapshot that was read. */
  readonly revision: Revision
  /** Keys of the prefix after the last entry returned. */
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
 * A subscription. Events arrive in revision order, each once, none before it is durable.
 *
 *     open --take()--> open --overflow | compacted | close--> ended
 */
export interface Watcher {
  /** Everything up to this revision has been taken or does not concern the prefix: safe for a bookmark. */
  readonly revision: Revision
  /** Removes and returns what has arrived (possibly nothing), up to `max` events. */
  take(max?: number): readonly StorageEvent[]
  /**
   * Set when the watcher was cut off: it fell further behind than `maxPending` or the history window allows, and what
   * waited for it is gone; or the store closed, and what had arrived can still be taken. Another watch can go on from
   * `revision`.
   */
  readonly ended: 'overflow' | 'closed' | undefined
  /** Called (at most once for each time the queue goes from empty to non-empty, or on end) on a later turn of the event loop. */
  onReady: (() => void) | undefined
  close(): void
}

export interface WatchOptions {
  /** A prefix ending in `/`, or one whole key. */
  readonly prefix: string
  /** Only events after this revision. */
  readonly from: Revision
  /** Events that may wait before the watcher is cut off, not counting those from before it began. Default 10 000. */
  readonly maxPending?: number
}

export interface Storage extends AsyncDisposable {
  /** Newest visible (durable) revision. At least 1. */
  readonly revision: Revision
  /** Oldest revision that can still be read. */
  readonly compacted: Revision
  /** @throws StorageError `Compacted` or `FutureRevision` when `at` cannot be read. */
  get(key: string, options?: { readonly at?: Revision }): Promise<Entry | undefined>
  /** The newest visible entry, without waiting: what a cache would answer. */
  peek(key: string): Entry | undefined
  /** @throws StorageError `Compacted` or `FutureRevision` when `at` cannot be read. */
  list(options: ListOptions): Promise<ListResult>
  /** Number of keys under a prefix, newest snapshot, by index. */
  count(prefix: string): number
  /**
   * Resolves once durable and visible. Writes are ordered as they are called, and conflicts decided by the newest write so
   * ordered; a conflict with one that is not durable yet is answered when it is.
   *
   * @throws StorageError `Unavailable` when it could not be made durable: whether it was written is then unknown, and no
   *   further write is taken
   */
  put(key: string, encode: Encode, options?: WriteOptions): Promise<WriteResult>
  /** `encode` makes the last state as watchers will see it. A missing key is a conflict with `current: undefined`. */
  delete(key: string, encode: Encode, options?: WriteOptions): Promise<WriteResult>
  /** @throws StorageError `Compacted` when `from` is older than the window. A `from` in the future waits for it. */
  watch(options: WatchOptions): Watcher
  /** Resolves when `revision` is visible; false when the signal aborts first. */
  waitFor(revision: Revision, signal: AbortSignal): Promise<boolean>
  /** Forgets history before `revision`, which stays readable, as does the newest state. */
  compact(revision: Revision): Promise<void>
  /** Waits for the writes under way, then ends watchers. Everything called later fails with StorageError `Closed`. */
  close(): Promise<void>
}
