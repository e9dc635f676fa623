import type { Revision, StorageEvent, StorageWatchOptions, Watcher } from '@krmkit/storage'

interface WatcherStore {
  newest(): Revision
  /** Called when the watcher needs no more events. */
  forget(): void
}

/** A watcher with a queue: the events that it has missed, then those that arrive. */
export class LogWatcher implements Watcher {
  readonly #store: WatcherStore
  readonly #options: Required<Omit<StorageWatchOptions, 'selection'>>
  #queue: StorageEvent[]
  /** How many events of the queue are history, which does not count as queued. */
  #missed: number
  #ended: Watcher['ended']
  /** The final value of `revision`. */
  #last: Revision | undefined
  #onReady: (() => void) | undefined
  #isWaking = false

  constructor(
    { missed, ...options }: Required<Omit<StorageWatchOptions, 'selection'>> & { readonly missed: StorageEvent[] },
    store: WatcherStore,
  ) {
    this.#options = options
    this.#store = store
    this.#queue = missed
    this.#missed = missed.length
  }

  get ended(): Watcher['ended'] {
    return this.#ended
  }

  get revision(): Revision {
    const next = this.#queue[0]
    return this.#last ?? (next === undefined ? Math.max(this.#options.from, this.#store.newest()) : next.revision - 1)
  }

  get onReady(): (() => void) | undefined {
    return this.#onReady
  }

  set onReady(onReady: (() => void) | undefined) {
    this.#onReady = onReady
    if (this.#isReady) this.#wakeLater()
  }

  take(max = Number.POSITIVE_INFINITY): readonly StorageEvent[] {
    const taken = this.#queue.slice(0, max)
    this.#queue = this.#queue.slice(taken.length)
    this.#missed = Math.max(0, this.#missed - taken.length)
    return taken
  }

  close(): void {
    this.#finish(this.#ended)
  }

  push(event: StorageEvent): void {
    if (event.revision <= this.#options.from || !matches(event.key, this.#options.prefix)) return
    if (this.#queue.length - this.#missed >= this.#options.maxPending) {
      this.end('overflow')
      return
    }
    this.#queue.push(event)
    if (this.#queue.length === 1) this.#wakeLater()
  }

  end(reason: 'overflow' | 'closed'): void {
    if (reason === 'overflow') this.#finish(reason)
    this.#ended = reason
    this.#wakeLater()
  }

  endIfBehind(compacted: Revision): void {
    if (this.#queue[0] !== undefined && this.#queue[0].revision <= compacted) this.end('overflow')
  }

  get #isReady(): boolean {
    return this.#ended !== undefined || this.#queue.length > 0
  }

  #finish(ended: Watcher['ended']): void {
    this.#last = this.revision
    this.#ended = ended
    this.#queue = []
    this.#store.forget()
  }

  #wakeLater(): void {
    if (this.#isWaking) return
    this.#isWaking = true
    setImmediate(() => {
      this.#isWaking = false
      if (this.#isReady) this.#onReady?.()
    })
  }
}

/** Whether a key is the one, or in the collection, that a prefix names. */
export function matches(key: string, prefix: string): boolean {
  return prefix.endsWith('/') ? key.startsWith(prefix) : key === prefix
}
