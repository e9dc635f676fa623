/**
 * A subscription. It first reads the history after its start, at its own pace and without copying, and registers with the hub when it has
 * caught up; from then on events are queued.
 *
 *     catching up --history read to its end--> live --overflow | store closed | close--> ended
 *     catching up --compacted | store closed | close--> ended
 *
 * Only queued events count towards `maxPending`. Unread history costs no memory, and its compaction cuts the watcher off.
 */
import type { Revision, StorageEvent, Watcher, WatchSelection } from '../interfaces.ts'
import type { History } from './history.ts'
import type { Subscriber, WatchHub } from './watch-hub.ts'

export interface WatcherContext {
  readonly history: Pick<History, 'revision' | 'find' | 'findNext'>
  readonly hub: WatchHub<MvccWatcher>
  /** Called once, when the watcher no longer uses the store. */
  forget(watcher: MvccWatcher): void
}

const none: readonly StorageEvent[] = Object.freeze([])

export class MvccWatcher implements Watcher, Subscriber {
  readonly prefix: string
  readonly selection: WatchSelection | undefined
  readonly #context: WatcherContext
  readonly #from: Revision
  readonly #maxPending: number
  readonly #accepts: (event: StorageEvent) => boolean
  /** While catching up: the next event to return. */
  #next: StorageEvent | undefined
  #queue: StorageEvent[] = []
  #ended: Watcher['ended']
  #isDone = false
  /** Final value of `revision`. */
  #last: Revision | undefined
  #onReady: (() => void) | undefined
  #isWaking = false

  constructor(
    context: WatcherContext,
    options: { prefix: string; from: Revision; maxPending: number; selection?: WatchSelection | undefined },
  ) {
    const { prefix, selection } = options
    this.prefix = prefix
    this.selection = selection
    this.#context = context
    this.#from = options.from
    this.#maxPending = options.maxPending
    this.#accepts = prefix.endsWith('/') ? ({ key }) => key.startsWith(prefix) : ({ key }) => key === prefix
    this.#continue(context.history.find(options.from, this.#accepts))
    if (this.#next !== undefined) this.#wakeLater()
  }

  get ended(): Watcher['ended'] {
    return this.#ended
  }

  get revision(): Revision {
    if (this.#last !== undefined) return this.#last
    const next = this.#next ?? this.#queue[0]
    return next === undefined ? Math.max(this.#from, this.#context.history.revision) : next.revision - 1
  }

  get onReady(): (() => void) | undefined {
    return this.#onReady
  }

  set onReady(onReady: (() => void) | undefined) {
    this.#onReady = onReady
    if (onReady !== undefined && this.#isReady) this.#wakeLater()
  }

  take(max = Number.POSITIVE_INFINITY): readonly StorageEvent[] {
    if (this.#next !== undefined) return this.#takeFromHistory(max)
    if (this.#queue.length > max) return this.#queue.splice(0, max)
    if (this.#queue.length === 0) return none
    const taken = this.#queue
    this.#queue = []
    return taken
  }

  close(): void {
    this.#finish(this.#ended)
  }

  /** Receives an event from the hub. */
  push(event: StorageEvent): void {
    if (event.revision <= this.#from) return
    if (this.#queue.length >= this.#maxPending) {
      this.end('overflow')
      return
    }
    this.#queue.push(event)
    if (this.#queue.length === 1) this.#wakeLater()
  }

  wake(): void {
    this.#isWaking = false
    if (!this.#isReady) return
    try {
      this.#onReady?.()
    } catch (error) {
      // An error of one reader surfaces as an uncaught error and does not prevent others from waking.
      queueMicrotask(() => {
        throw error
      })
    }
  }

  /** Cuts the watcher off. Events queued when the store closes can still be taken; after an overflow none can. */
  end(reason: 'overflow' | 'closed'): void {
    if (this.#isDone) return
    this.#ended = reason
    this.#wakeLater()
    if (reason === 'overflow') this.#finish(reason)
    else this.#context.hub.remove(this)
  }

  /** Cuts off a watcher that has not read the events that compaction to `revision` drops. */
  endIfBehind(revision: Revision, which: 'catching up' | 'all'): void {
    const waiting = which === 'all' ? (this.#next ?? this.#queue[0]) : this.#next
    if (waiting !== undefined && waiting.revision <= revision) this.end('overflow')
  }

  get #isReady(): boolean {
    return this.#ended !== undefined || this.#next !== undefined || this.#queue.length > 0
  }

  #takeFromHistory(max: number): StorageEvent[] {
    const taken: StorageEvent[] = []
    while (this.#next !== undefined && taken.length < max) {
      taken.push(this.#next)
      this.#continue(this.#context.history.findNext(this.#next, this.#accepts))
    }
    return taken
  }

  /** Continues with the next event of history; without one, the watcher has caught up. */
  #continue(next: StorageEvent | undefined): void {
    this.#next = next
    if (next === undefined && this.#ended === undefined) this.#context.hub.add(this)
  }

  #wakeLater(): void {
    if (this.#isWaking) return
    this.#isWaking = true
    this.#context.hub.wakeLater(this)
  }

  #finish(ended: Watcher['ended']): void {
    if (this.#isDone) return
    this.#last = this.revision
    this.#ended = ended
    this.#isDone = true
    this.#next = undefined
    this.#queue = []
    this.#context.hub.remove(this)
    this.#context.forget(this)
  }
}
