/**
 * The engine of all in-process backends: current state, event window, watchers, and write order. An optional journal makes writes
 * durable; without one, a write is complete when it is ordered.
 */
import type { Clock } from '@krmkit/meta'
import type {
  Encode,
  Entry,
  Revision,
  Storage,
  StorageEvent,
  StorageListOptions,
  StorageListResult,
  StorageWatchOptions,
  StorageWriteOptions,
  Watcher,
  WriteResult,
} from '../interfaces.ts'
import { checkKey, checkKeyOrPrefix, checkPrefix, endOfPrefix } from '../keys.ts'
import { type ResolvedOptions, resolveOptions, type StorageOptions } from '../options.ts'
import { StorageError } from '../storage-error.ts'
import { deleteEvent, makeEntry, ownBytes, putEvent } from './entries.ts'
import { History } from './history.ts'
import type { Journal } from './journal.ts'
import { RevisionWaiters } from './revision-waiters.ts'
import { Tree } from './tree.ts'
import { WatchHub } from './watch-hub.ts'
import { MvccWatcher, type WatcherContext } from './watcher.ts'
import { WriteQueue } from './write-queue.ts'

/** The initial content of a store: a state and the events after it. */
export interface InitialState {
  /** The oldest readable revision, which is that of `entries`. */
  readonly compacted: Revision
  readonly entries: Iterable<Entry>
  /** Every event after `compacted`, in order. */
  readonly events: Iterable<StorageEvent>
}

export const firstRevision: Revision = 1
/** Interval between housekeeping runs while there is history: a fraction of the window, and a minimum in milliseconds. */
const housekeepingRunsPerWindow = 60
const minHousekeepingMs = 1000

export class MvccStorage implements Storage {
  readonly #options: ResolvedOptions
  readonly #clock: Clock
  readonly #journal: Journal | undefined
  readonly #writes: WriteQueue | undefined
  readonly #tree: Tree
  readonly #history: History
  readonly #hub = new WatchHub<MvccWatcher>()
  readonly #watchers = new Set<MvccWatcher>()
  readonly #waiters = new RevisionWaiters()
  /** Revision of the last ordered write, visible or not. */
  #ordered: Revision
  #isEncoding = false
  #closing: Promise<void> | undefined
  #cancelHousekeeping: (() => void) | undefined
  readonly #freeze = () => this.#tree.freeze()
  readonly #watcherContext: WatcherContext

  private constructor(options: ResolvedOptions, parts: { tree: Tree; history: History; journal?: Journal | undefined }) {
    this.#options = options
    this.#clock = options.clock
    this.#tree = parts.tree
    this.#history = parts.history
    this.#journal = parts.journal
    this.#ordered = parts.history.revision
    this.#watcherContext = {
      history: parts.history,
      hub: this.#hub,
      forget: (watcher) => this.#watchers.delete(watcher),
    }
    if (parts.journal !== undefined) {
      this.#writes = new WriteQueue(parts.journal, (event) => this.#publish(event))
    }
  }

  static empty(options: ResolvedOptions): MvccStorage {
    return MvccStorage.open(options, { compacted: firstRevision, entries: [], events: [] })
  }

  static open(options: ResolvedOptions, initial: InitialState, journal?: Journal): MvccStorage {
    const tree = new Tree()
    for (const entry of initial.entries) tree.set(entry)
    const history = new History(initial.compacted, options)
    const storage = new MvccStorage(options, { tree, history, journal })
    for (const event of initial.events) storage.#publish(event)
    storage.#ordered = history.revision
    return storage
  }

  /** Whether the store has no journal, so that it can be forked. */
  get isVolatile(): boolean {
    return this.#journal === undefined
  }

  /** An independent store with the same state and history. Copies pointers, not data. */
  fork(overrides: StorageOptions): MvccStorage {
    this.#checkOpen()
    const options = resolveOptions({ ...this.#options, ...overrides })
    const tree = new Tree(this.#tree.freeze())
    const fork = new MvccStorage(options, { tree, history: this.#history.fork(options) })
    fork.#scheduleHousekeeping()
    return fork
  }

  get revision(): Revision {
    return this.#history.revision
  }

  get compacted(): Revision {
    return this.#history.compacted
  }

  async get(key: string, options?: { readonly at?: Revision }): Promise<Entry | undefined> {
    this.#checkOpen()
    const newest = this.#tree.get(key)
    const at = options?.at
    if (at === undefined) return newest
    this.#checkReadable(at)
    if (at === this.revision || (newest !== undefined && newest.revision <= at)) return newest
    return this.#treeAt(at).get(key)
  }

  peek(key: string): Entry | undefined {
    this.#checkOpen()
    return this.#tree.get(key)
  }

  async list(options: StorageListOptions): Promise<StorageListResult> {
    this.#checkOpen()
    const { prefix, after, limit, at } = options
    checkPrefix(prefix)
    if (at !== undefined) this.#checkReadable(at)
    const tree = at === undefined || at === this.revision ? this.#tree : this.#treeAt(at)
    const start = tree.rank(prefix)
    const from = after === undefined ? start : Math.max(start, tree.rank(after, 'including'))
    const end = tree.rank(endOfPrefix(prefix))
    const to = limit === undefined || limit <= 0 ? end : Math.min(end, from + limit)
    return { entries: tree.slice(from, to), revision: at ?? this.revision, remaining: Math.max(0, end - to) }
  }

  count(prefix: string): number {
    this.#checkOpen()
    checkPrefix(prefix)
    return this.#tree.rank(endOfPrefix(prefix)) - this.#tree.rank(prefix)
  }

  put(key: string, encode: Encode, options?: StorageWriteOptions): Promise<WriteResult> {
    return this.#write('put', key, { encode, options })
  }

  delete(key: string, encode: Encode, options?: StorageWriteOptions): Promise<WriteResult> {
    return this.#write('delete', key, { encode, options })
  }

  watch(options: StorageWatchOptions): Watcher {
    this.#checkOpen()
    const { prefix, from, maxPending = this.#options.maxPending, selection } = options
    checkKeyOrPrefix(prefix)
    if (!(from >= this.compacted)) throw this.#compactedError(from)
    const watcher = new MvccWatcher(this.#watcherContext, { prefix, from, maxPending, selection })
    this.#watchers.add(watcher)
    return watcher
  }

  waitFor(revision: Revision, signal: AbortSignal): Promise<boolean> {
    if (this.#closing !== undefined) return Promise.reject(new StorageError({ code: 'Closed' }))
    if (revision <= this.revision) return Promise.resolve(true)
    return this.#waiters.wait(revision, signal)
  }

  async compact(revision: Revision): Promise<void> {
    this.#checkOpen()
    if (revision > this.revision) throw this.#futureError(revision)
    await this.#compact(revision, 'catching up')
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #write(
    type: 'put' | 'delete',
    key: string,
    how: { encode: Encode; options: StorageWriteOptions | undefined },
  ): Promise<WriteResult> {
    try {
      this.#checkWritable()
      checkKey(key)
      const pending = this.#writes?.newest(key)
      const current = pending === undefined ? this.#tree.get(key) : stateAfter(pending.event)
      const expect = how.options?.expect
      if ((type === 'delete' && current === undefined) || (expect !== undefined && expect !== (current?.revision ?? 0))) {
        if (pending === undefined) return Promise.resolve({ outcome: 'conflict', current })
        return pending.written.then(() => ({ outcome: 'conflict', current: this.#tree.get(key) }))
      }
      // An update reuses the existing key string instead of keeping one copy per revision.
      const entry = this.#encode(current?.key ?? key, how.encode, {
        created: type === 'put' ? current?.created : current!.created,
        memo: how.options?.memo,
      })
      const event = type === 'put' ? putEvent(entry, current) : deleteEvent(entry, current!)
      if (this.#writes !== undefined) return this.#writes.add(event).then(written)
      this.#publish(event)
      return Promise.resolve(written(entry))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Assigns the revision and encodes the bytes. When `encode` throws, the write has no effect. */
  #encode(key: string, encode: Encode, times: { created: Revision | undefined; memo: unknown }): Entry {
    if (this.#isEncoding) throw new Error('encode must not write to the store it encodes for')
    const revision = this.#ordered + 1
    this.#isEncoding = true
    try {
      const value = encode(revision)
      if (!(value instanceof Uint8Array)) throw new TypeError('encode must return a Uint8Array')
      this.#ordered = revision
      return makeEntry(key, ownBytes(value), { revision, created: times.created ?? revision, memo: times.memo })
    } finally {
      this.#isEncoding = false
    }
  }

  /** Publishes an event to state, history, watchers and waiters in one step. */
  #publish(event: StorageEvent): void {
    this.#history.append(event, this.#clock.now(), this.#freeze)
    if (event.type === 'put') this.#tree.set(event.entry)
    else this.#tree.delete(event.key)
    this.#hub.dispatch(event)
    this.#waiters.resolveReached(event.revision)
    if (this.#history.exceedsByteLimit) this.#compactDue()
    if (this.#cancelHousekeeping === undefined) this.#scheduleHousekeeping()
  }

  #treeAt(revision: Revision): Tree {
    return new Tree(this.#history.stateAt(revision, this.#freeze))
  }

  #scheduleHousekeeping(): void {
    if (this.#history.isEmpty) return
    const everyMs = Math.max(minHousekeepingMs, this.#options.historyMs / housekeepingRunsPerWindow)
    this.#cancelHousekeeping = this.#clock.setTimeout(() => {
      this.#cancelHousekeeping = undefined
      this.#compactDue()
      this.#history.sweepNotes()
      this.#scheduleHousekeeping()
    }, everyMs)
  }

  /** Drops history that is too old or too large; watchers that have not read it are cut off. */
  #compactDue(): void {
    const revision = this.#history.revisionToCompact(this.#clock.now())
    // Records that the journal fails to remove are found and removed at the next opening.
    if (revision !== undefined) this.#compact(revision, 'all').catch(() => undefined)
  }

  async #compact(revision: Revision, cutOff: 'catching up' | 'all'): Promise<void> {
    if (revision <= this.compacted) return
    const superseded = this.#journal === undefined ? [] : this.#history.supersededBy(revision)
    for (const watcher of this.#watchers) watcher.endIfBehind(revision, cutOff)
    this.#history.compact(revision)
    try {
      await this.#journal?.compact(revision, superseded)
    } catch (cause) {
      const problem = `history could not be compacted: ${cause instanceof Error ? cause.message : String(cause)}`
      throw new StorageError({ code: 'Unavailable', reason: 'journal', problem, cause })
    }
  }

  async #close(): Promise<void> {
    this.#cancelHousekeeping?.()
    await this.#writes?.idle()
    for (const watcher of this.#watchers) watcher.end('closed')
    this.#watchers.clear()
    this.#waiters.rejectAll(new StorageError({ code: 'Closed' }))
    await this.#journal?.close()
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new StorageError({ code: 'Closed' })
  }

  #checkWritable(): void {
    this.#checkOpen()
    if (this.#writes?.failure !== undefined) throw this.#writes.failure
  }

  #checkReadable(at: Revision): void {
    if (at > this.revision) throw this.#futureError(at)
    if (!(at >= this.compacted)) throw this.#compactedError(at)
  }

  #futureError(requested: Revision): StorageError {
    return new StorageError({ code: 'FutureRevision', requested, current: this.revision })
  }

  #compactedError(requested: Revision): StorageError {
    return new StorageError({ code: 'Compacted', requested, compacted: this.compacted, current: this.revision })
  }
}

function written(entry: Entry): WriteResult {
  return { outcome: 'written', entry }
}

function stateAfter(event: StorageEvent): Entry | undefined {
  return event.type === 'put' ? event.entry : undefined
}
