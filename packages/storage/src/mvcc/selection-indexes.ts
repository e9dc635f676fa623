/**
 * Indexes of collections by a value of their entries, so that the cost of a list that requires a value is proportional to the number of
 * selected entries.
 *
 * The second list that could use an index starts building it, in the background and from a snapshot; events that arrive during the build
 * are applied afterwards.
 *
 *     asked once --asked again--> building --snapshot and events read--> ready --unused, replaced--> gone
 *
 * While an entry has an unknown value, its index is unusable and lists read the whole collection.
 */
import { onNextTurn } from '@krmkit/base/work'
import type { Entry, ListSelection, StorageEvent, WatchSelection } from '../interfaces.ts'
import { Tree, type TreeSnapshot } from './tree.ts'

/** Minimum size of an indexed collection. Reading a smaller collection costs less than maintaining an index. */
const minIndexedEntries = 512
/** Maximum number of indexes in a store; the least recently used one is dropped. */
const maxIndexes = 16
/** An index that no list has used for this time is dropped. */
const unusedMs = 10 * 60_000
/** Maximum number of selections that are remembered as requested once. */
const maxAsked = 64
/** When the best index selects a larger part of the collection, lists still request another index. */
const selectivePart = 1 / 8

const buildTurnMs = 2
const entriesPerStep = 16

export class SelectionIndexes {
  /** Indexes by collection, then by the name of the selection. */
  readonly #byCollection = new Map<string, Map<string, SelectionIndex>>()
  readonly #asked = new Set<string>()
  readonly #toBuild: SelectionIndex[] = []
  #count = 0

  /**
   * The entries that match the most selective indexed value, as a tree; `undefined` when no index is ready. Records which indexes would
   * have helped.
   *
   * @param size number of entries that the list would have to read
   * @param snapshot the newest state
   */
  find(
    { collection, selections }: ListSelection,
    { size, snapshot, nowMs }: { readonly size: () => number; readonly snapshot: () => TreeSnapshot; readonly nowMs: number },
  ): Tree | undefined {
    const indexes = this.#byCollection.get(collection)
    let best: Tree | undefined
    let missing: WatchSelection | undefined
    for (const selection of selections) {
      const index = indexes?.get(selection.index)
      if (index === undefined) missing ??= selection
      else {
        index.usedMs = nowMs
        const found = index.find(selection.value)
        if (found !== undefined && found.size < (best?.size ?? Number.POSITIVE_INFINITY)) best = found
      }
    }
    if (missing !== undefined && isWorthAsking(size(), best)) this.#ask(collection, missing, snapshot, nowMs)
    return best
  }

  publish(event: StorageEvent): void {
    if (this.#count === 0) return
    const { key } = event
    for (let slash = key.indexOf('/'); slash !== -1; slash = key.indexOf('/', slash + 1)) {
      const indexes = this.#byCollection.get(key.slice(0, slash + 1))
      if (indexes !== undefined) for (const index of indexes.values()) index.publish(event)
    }
  }

  /** Drops the indexes that have not been used for some time. */
  sweep(nowMs: number): void {
    for (const index of this.#all()) if (nowMs - index.usedMs >= unusedMs) this.#drop(index)
  }

  clear(): void {
    for (const index of this.#all()) this.#drop(index)
    this.#asked.clear()
  }

  #all(): SelectionIndex[] {
    return [...this.#byCollection.values()].flatMap((indexes) => [...indexes.values()])
  }

  #ask(collection: string, selection: WatchSelection, snapshot: () => TreeSnapshot, nowMs: number): void {
    const key = `${collection} ${selection.index}`
    if (!this.#asked.delete(key)) {
      if (this.#asked.size >= maxAsked) this.#asked.clear()
      this.#asked.add(key)
      return
    }
    if (this.#count >= maxIndexes) this.#drop(this.#all().reduce((a, b) => (b.usedMs < a.usedMs ? b : a)))
    const index = new SelectionIndex({ collection, selection, snapshot: snapshot(), nowMs })
    const indexes = this.#byCollection.get(collection)
    if (indexes === undefined) this.#byCollection.set(collection, new Map([[selection.index, index]]))
    else indexes.set(selection.index, index)
    this.#count++
    this.#toBuild.push(index)
    if (this.#toBuild.length === 1) onNextTurn(() => this.#build())
  }

  #drop(index: SelectionIndex): void {
    index.drop()
    const indexes = this.#byCollection.get(index.collection)
    if (indexes?.delete(index.name)) this.#count--
    if (indexes?.size === 0) this.#byCollection.delete(index.collection)
  }

  /** Builds one index after the other, for a short time in each turn of the event loop. */
  #build(): void {
    const end = performance.now() + buildTurnMs
    for (let index = this.#toBuild[0]; index !== undefined; index = this.#toBuild[0]) {
      while (!index.buildStep()) {
        if (performance.now() < end) continue
        onNextTurn(() => this.#build())
        return
      }
      this.#toBuild.shift()
    }
  }
}

function isWorthAsking(size: number, best: Tree | undefined): boolean {
  return size >= minIndexedEntries && (best === undefined || best.size > size * selectivePart)
}

/** The remaining input of an index that is being built. */
interface Remaining {
  readonly tree: Tree
  at: number
  readonly end: number
  /** Changes since the snapshot, the first of them at `nextEvent`. */
  readonly events: StorageEvent[]
  nextEvent: number
}

class SelectionIndex {
  readonly collection: string
  readonly name: string
  usedMs: number
  readonly #readValue: WatchSelection['readValue']
  /** A value with one entry has no tree, because many indexes have one entry for each value. */
  readonly #byValue = new Map<string, Entry | Tree>()
  #remaining: Remaining | undefined
  /** Number of entries whose value is unknown. */
  #unknown = 0

  constructor(options: {
    readonly collection: string
    readonly selection: WatchSelection
    readonly snapshot: TreeSnapshot
    readonly nowMs: number
  }) {
    const { collection, selection, snapshot, nowMs } = options
    this.collection = collection
    this.name = selection.index
    this.usedMs = nowMs
    this.#readValue = (entry) => selection.readValue(entry)
    const tree = new Tree(snapshot)
    this.#remaining = { tree, ...tree.range(collection), events: [], nextEvent: 0 }
  }

  find(value: string): Tree | undefined {
    if (this.#remaining !== undefined || this.#unknown > 0) return undefined
    const found = this.#byValue.get(value)
    if (found instanceof Tree) return found
    const tree = new Tree()
    if (found !== undefined) tree.set(found)
    return tree
  }

  publish(event: StorageEvent): void {
    if (this.#remaining === undefined) this.#apply(event)
    else this.#remaining.events.push(event)
  }

  /** Reads a few entries or events. @returns whether the index is complete */
  buildStep(): boolean {
    const remaining = this.#remaining
    if (remaining === undefined) return true
    const { tree, at, end, events } = remaining
    if (at < end) {
      remaining.at = Math.min(end, at + entriesPerStep)
      for (const entry of tree.slice(at, remaining.at)) this.#add(entry)
      return false
    }
    const stop = Math.min(events.length, remaining.nextEvent + entriesPerStep)
    while (remaining.nextEvent < stop) this.#apply(events[remaining.nextEvent++] as StorageEvent)
    if (stop < events.length) return false
    this.#remaining = undefined
    return true
  }

  drop(): void {
    this.#remaining = undefined
    this.#byValue.clear()
    // Marks the index as unusable for a list that still holds it.
    this.#unknown = 1
  }

  #apply({ type, entry, previous }: StorageEvent): void {
    const before = previous === undefined ? undefined : this.#readValue(previous)
    if (type === 'put' && previous !== undefined && before !== undefined && before === this.#readValue(entry)) {
      this.#add(entry, before)
      return
    }
    if (previous !== undefined) this.#remove(previous, before)
    if (type === 'put') this.#add(entry)
  }

  /** Adds an entry, or replaces the one of the same key and value. */
  #add(entry: Entry, value = this.#readValue(entry)): void {
    if (value === undefined) {
      this.#unknown++
      return
    }
    const found = this.#byValue.get(value)
    if (found === undefined || (!(found instanceof Tree) && found.key === entry.key)) this.#byValue.set(value, entry)
    else if (found instanceof Tree) found.set(entry)
    else {
      const tree = new Tree()
      tree.set(found)
      tree.set(entry)
      this.#byValue.set(value, tree)
    }
  }

  #remove({ key }: Entry, value: string | undefined): void {
    if (value === undefined) {
      this.#unknown--
      return
    }
    const found = this.#byValue.get(value)
    if (found instanceof Tree) found.delete(key)
    if (!(found instanceof Tree) || found.size === 0) this.#byValue.delete(value)
  }
}
