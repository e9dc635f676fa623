/**
 * The in-memory state of a store: current entries, event window, watchers and waiters. Its user publishes events: a store that orders
 * writes itself, or a follower of a remote store.
 */
import type { Clock } from '@krmkit/meta'
import type {
  Entry,
  ListSelection,
  Revision,
  StorageEvent,
  StorageListOptions,
  StorageListResult,
  StorageWatchOptions,
  Watcher,
} from '../interfaces.ts'
import { checkKeyOrPrefix, checkPrefix } from '../keys.ts'
import { type ResolvedOptions, resolveOptions, type StorageOptions } from '../options.ts'
import { StorageError } from '../storage-error.ts'
import { History } from './history.ts'
import type { Journal } from './journal.ts'
import { RevisionWaiters } from './revision-waiters.ts'
import { SelectionIndexes } from './selection-indexes.ts'
import { Tree } from './tree.ts'
import { WatchHub } from './watch-hub.ts'
import { MvccWatcher, type WatcherContext } from './watcher.ts'

/** The initial content of a store: a state and the events after it. */
export interface InitialState {
  /** The oldest readable revision, which is that of `entries`. */
  readonly compacted: Revision
  readonly entries: Iterable<Entry>
  /** Every event after `compacted`, in order. */
  readonly events: Iterable<StorageEvent>
}

/** The part of a journal that the state uses: it is compacted with the history, and may hold superseded values. */
export type Below = Pick<Journal, 'compact' | 'values'>

/** Interval between housekeeping runs while there is history: a fraction of the window, and a minimum in milliseconds. */
const housekeepingRunsPerWindow = 60
const minHousekeepingMs = 1000

export class MvccState {
  readonly #options: ResolvedOptions
  readonly #clock: Clock
  readonly #below: Below | undefined
  #tree: Tree
  readonly #history: History
  readonly #hub = new WatchHub<MvccWatcher>()
  readonly #indexes = new SelectionIndexes()
  readonly #watchers = new Set<MvccWatcher>()
  readonly #waiters = new RevisionWaiters()
  #isClosed = false
  #cancelHousekeeping: (() => void) | undefined
  readonly #freeze = () => this.#tree.freeze()
  readonly #watcherContext: WatcherContext

  private constructor(options: ResolvedOptions, parts: { tree: Tree; history: History; below?: Below | undefined }) {
    this.#options = options
    this.#clock = options.clock
    this.#tree = parts.tree
    this.#history = parts.history
    this.#below = parts.below
    this.#watcherContext = {
      history: parts.history,
      hub: this.#hub,
      forget: (watcher) => this.#watchers.delete(watcher),
    }
  }

  static open(options: ResolvedOptions, initial: InitialState, below?: Below): MvccState {
    const tree = new Tree()
    for (const entry of initial.entries) tree.set(entry)
    const history = new History(initial.compacted, options, below?.values)
    const state = new MvccState(options, { tree, history, below })
    for (const event of initial.events) state.publish(event)
    return state
  }

  /** An independent state with the same content and history. Copies pointers, not data. */
  fork(overrides: StorageOptions): MvccState {
    const options = resolveOptions({ ...this.#options, ...overrides })
    const tree = new Tree(this.#tree.freeze())
    const fork = new MvccState(options, { tree, history: this.#history.fork(options) })
    fork.#scheduleHousekeeping()
    return fork
  }

  get revision(): Revision {
    return this.#history.revision
  }

  get compacted(): Revision {
    return this.#history.compacted
  }

  /** Bytes held only by history. */
  get historyBytes(): number {
    return this.#history.bytes
  }

  peek(key: string): Entry | undefined {
    return this.#tree.get(key)
  }

  /** @throws StorageError `Compacted` or `FutureRevision` */
  get(key: string, at: Revision | undefined): Entry | undefined {
    const newest = this.#tree.get(key)
    if (at === undefined) return newest
    this.#checkReadable(at)
    if (at === this.revision || (newest !== undefined && newest.revision <= at)) return newest
    return this.#treeAt(at).get(key)
  }

  /** @throws StorageError `Compacted`, `FutureRevision` or `InvalidKey` */
  list(options: StorageListOptions): StorageListResult {
    const { prefix, after, limit, at, selection } = options
    checkPrefix(prefix)
    if (at !== undefined) this.#checkReadable(at)
    const isNewest = at === undefined || at === this.revision
    const indexed = isNewest && selection !== undefined ? this.#selected(prefix, selection) : undefined
    const tree = indexed ?? (isNewest ? this.#tree : this.#treeAt(at))
    const { at: start, end } = tree.range(prefix)
    const from = after === undefined ? start : Math.max(start, tree.rank(after, 'including'))
    const to = limit === undefined || limit <= 0 ? end : Math.min(end, from + limit)
    return { entries: tree.slice(from, to), revision: at ?? this.revision, remaining: Math.max(0, end - to) }
  }

  count(prefix: string): number {
    checkPrefix(prefix)
    const { at, end } = this.#tree.range(prefix)
    return end - at
  }

  /** @throws StorageError `Compacted` or `InvalidKey` */
  watch(options: StorageWatchOptions): Watcher {
    const { prefix, from, maxPending = this.#options.maxPending, selection } = options
    checkKeyOrPrefix(prefix)
    if (!(from >= this.compacted)) throw this.#compactedError(from)
    const watcher = new MvccWatcher(this.#watcherContext, { prefix, from, maxPending, selection })
    this.#watchers.add(watcher)
    return watcher
  }

  waitFor(revision: Revision, signal: AbortSignal): Promise<boolean> {
    if (this.#isClosed) return Promise.reject(new StorageError({ code: 'Closed' }))
    if (revision <= this.revision) return Promise.resolve(true)
    return this.#waiters.wait(revision, signal)
  }

  /** Publishes an event to state, history, watchers and waiters in one step. */
  publish(event: StorageEvent): void {
    this.#history.append(event, this.#clock.now(), this.#freeze)
    if (event.type === 'put') this.#tree.set(event.entry)
    else this.#tree.delete(event.key)
    this.#indexes.publish(event)
    this.#hub.dispatch(event)
    this.#waiters.resolveReached(event.revision)
    if (this.#history.exceedsByteLimit) this.#compactDue()
    if (this.#cancelHousekeeping === undefined) this.#scheduleHousekeeping()
  }

  /** Advances to a later revision that changed nothing in this state. */
  advance(revision: Revision): void {
    this.#history.advance(revision)
    this.#waiters.resolveReached(revision)
  }

  /**
   * Replaces the content by that of a later revision, whose history is unknown. Watchers of prefixes without differences continue; the
   * others are cut off, because the changes in between are not known.
   */
  replace(entries: Iterable<Entry>, revision: Revision): void {
    const tree = new Tree()
    const changed = new Set<string>()
    const before = this.#tree
    for (const entry of entries) {
      const known = before.get(entry.key)
      if (known?.revision !== entry.revision) addPrefixes(changed, entry.key)
      // Unchanged entries are kept, with their memos.
      tree.set(known?.revision === entry.revision ? known : entry)
    }
    for (const { key } of before.slice(0, before.rank('0'))) if (tree.get(key) === undefined) addPrefixes(changed, key)
    for (const watcher of this.#watchers) {
      watcher.endIfBehind(revision, 'catching up')
      if (changed.has(watcher.prefix)) watcher.end('overflow')
    }
    this.#tree = tree
    this.#indexes.clear()
    this.#history.restart(revision)
    this.#waiters.resolveReached(revision)
  }

  /** @throws StorageError `FutureRevision` */
  async compact(revision: Revision): Promise<void> {
    if (revision > this.revision) throw this.#futureError(revision)
    await this.#compact(revision, 'catching up')
  }

  /** Stops timers. Call `end` when nothing is published any more. */
  stop(): void {
    this.#cancelHousekeeping?.()
    this.#isClosed = true
  }

  /** Ends watchers and waiters. */
  end(): void {
    for (const watcher of this.#watchers) watcher.end('closed')
    this.#watchers.clear()
    this.#indexes.clear()
    this.#waiters.rejectAll(new StorageError({ code: 'Closed' }))
  }

  #selected(prefix: string, selection: ListSelection): Tree | undefined {
    return this.#indexes.find(selection, { size: () => this.count(prefix), snapshot: this.#freeze, nowMs: this.#clock.now() })
  }

  #treeAt(revision: Revision): Tree {
    return new Tree(this.#history.stateAt(revision, this.#freeze))
  }

  #scheduleHousekeeping(): void {
    if (this.#history.isEmpty || this.#isClosed) return
    const everyMs = Math.max(minHousekeepingMs, this.#options.historyMs / housekeepingRunsPerWindow)
    this.#cancelHousekeeping = this.#clock.setTimeout(() => {
      this.#cancelHousekeeping = undefined
      this.#compactDue()
      this.#history.sweepNotes()
      this.#indexes.sweep(this.#clock.now())
      this.#scheduleHousekeeping()
    }, everyMs)
  }

  /** Drops history that is too old or too large; watchers that have not read it are cut off. */
  #compactDue(): void {
    const revision = this.#history.revisionToCompact(this.#clock.now())
    // Records that cannot be removed now are found and removed at the next opening.
    if (revision !== undefined) this.#compact(revision, 'all').catch(() => undefined)
  }

  async #compact(revision: Revision, cutOff: 'catching up' | 'all'): Promise<void> {
    if (revision <= this.compacted) return
    const superseded = this.#below === undefined ? [] : this.#history.supersededBy(revision)
    for (const watcher of this.#watchers) watcher.endIfBehind(revision, cutOff)
    this.#history.compact(revision)
    try {
      await this.#below?.compact(revision, superseded)
    } catch (cause) {
      const problem = `history could not be compacted: ${cause instanceof Error ? cause.message : String(cause)}`
      throw new StorageError({ code: 'Unavailable', reason: 'journal', problem, cause })
    }
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

/** Adds a key and the prefixes of all collections that contain it. */
function addPrefixes(prefixes: Set<string>, key: string): void {
  prefixes.add(key)
  for (let slash = key.indexOf('/'); slash !== -1; slash = key.indexOf('/', slash + 1)) prefixes.add(key.slice(0, slash + 1))
}
