import { onNextTurn } from '@krmkit/meta/slices'
/**
 * Dispatches events to watchers. Watchers are grouped by prefix, and an event goes to the groups of all ancestors of its key, so
 * the cost depends on the depth of the key and its subscribers, not on other watchers.
 *
 * Watchers are woken together, once for all events of one turn of the event loop.
 */
import type { StorageEvent } from '../interfaces.ts'

/** The part of a watcher that the hub uses. */
export interface Subscriber {
  readonly prefix: string
  push(event: StorageEvent): void
  wake(): void
}

export class WatchHub<S extends Subscriber> {
  readonly #byPrefix = new Map<string, Set<S>>()
  #waiting: S[] = []

  add(subscriber: S): void {
    const group = this.#byPrefix.get(subscriber.prefix)
    if (group === undefined) this.#byPrefix.set(subscriber.prefix, new Set([subscriber]))
    else group.add(subscriber)
  }

  remove(subscriber: S): void {
    const group = this.#byPrefix.get(subscriber.prefix)
    if (group?.delete(subscriber) && group.size === 0) this.#byPrefix.delete(subscriber.prefix)
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
    const group = this.#byPrefix.get(prefix)
    if (group !== undefined) for (const subscriber of group) subscriber.push(event)
  }

  #wakeAll(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const subscriber of waiting) subscriber.wake()
  }
}
