import { onNextTurn } from '@krmkit/base/work'
/**
 * Dispatches events to watchers. Watchers are grouped by prefix, and an event goes to the groups of all ancestors of its key, so
 * the cost depends on the depth of the key and its subscribers, not on other watchers. Within a group, watchers of one value, such as
 * the pods of a node, are found by that value.
 *
 * Watchers are woken together, once for all events of one turn of the event loop.
 */
import type { StorageEvent, WatchSelection } from '../interfaces.ts'

/** The part of a watcher that the hub uses. */
export interface Subscriber {
  readonly prefix: string
  readonly selection?: WatchSelection | undefined
  push(event: StorageEvent): void
  wake(): void
}

/** The subscribers of one prefix. */
class Group<S extends Subscriber> {
  readonly #all = new Set<S>()
  readonly #indexes = new Map<string, SelectionIndex<S>>()

  get isEmpty(): boolean {
    return this.#all.size === 0 && this.#indexes.size === 0
  }

  add(subscriber: S): void {
    const { selection } = subscriber
    if (selection === undefined) {
      this.#all.add(subscriber)
      return
    }
    let index = this.#indexes.get(selection.index)
    if (index === undefined) {
      index = { readValue: (entry) => selection.readValue(entry), byValue: new Map() }
      this.#indexes.set(selection.index, index)
    }
    const selected = index.byValue.get(selection.value)
    if (selected === undefined) index.byValue.set(selection.value, new Set([subscriber]))
    else selected.add(subscriber)
  }

  remove(subscriber: S): void {
    const { selection } = subscriber
    if (selection === undefined) {
      this.#all.delete(subscriber)
      return
    }
    const byValue = this.#indexes.get(selection.index)?.byValue
    const selected = byValue?.get(selection.value)
    if (!selected?.delete(subscriber) || selected.size > 0) return
    byValue?.delete(selection.value)
    if (byValue?.size === 0) this.#indexes.delete(selection.index)
  }

  push(event: StorageEvent): void {
    for (const subscriber of this.#all) subscriber.push(event)
    for (const index of this.#indexes.values()) pushSelected(index, event)
  }
}

interface SelectionIndex<S> {
  readonly readValue: WatchSelection['readValue']
  readonly byValue: Map<string, Set<S>>
}

function pushSelected({ readValue, byValue }: SelectionIndex<Subscriber>, event: StorageEvent): void {
  const { entry, previous } = event
  const value = readValue(entry)
  const before = previous === undefined ? value : readValue(previous)
  if (value === undefined || before === undefined) {
    for (const subscribers of byValue.values()) pushAll(subscribers, event)
    return
  }
  pushAll(byValue.get(value), event)
  if (before !== value) pushAll(byValue.get(before), event)
}

function pushAll(subscribers: Iterable<Subscriber> | undefined, event: StorageEvent): void {
  if (subscribers !== undefined) for (const subscriber of subscribers) subscriber.push(event)
}

export class WatchHub<S extends Subscriber> {
  readonly #byPrefix = new Map<string, Group<S>>()
  #waiting: S[] = []

  add(subscriber: S): void {
    let group = this.#byPrefix.get(subscriber.prefix)
    if (group === undefined) {
      group = new Group()
      this.#byPrefix.set(subscriber.prefix, group)
    }
    group.add(subscriber)
  }

  remove(subscriber: S): void {
    const group = this.#byPrefix.get(subscriber.prefix)
    if (group === undefined) return
    group.remove(subscriber)
    if (group.isEmpty) this.#byPrefix.delete(subscriber.prefix)
  }

  dispatch(event: StorageEvent): void {
    if (this.#byPrefix.size === 0) return
    const { key } = event
    for (let slash = key.indexOf('/'); slash !== -1; slash = key.indexOf('/', slash + 1)) {
      this.#push(key.slice(0, slash + 1), event)
    }
    this.#push(key, event)
  }

  /** Calls the subscriber's `wake` on the next turn. */
  wakeLater(subscriber: S): void {
    this.#waiting.push(subscriber)
    if (this.#waiting.length === 1) onNextTurn(() => this.#wakeAll())
  }

  #push(prefix: string, event: StorageEvent): void {
    this.#byPrefix.get(prefix)?.push(event)
  }

  #wakeAll(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const subscriber of waiting) subscriber.wake()
  }
}
