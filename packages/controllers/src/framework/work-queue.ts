import { ApiError, type Clock, type Pace, TokenBucket } from '@krmkit/meta'
import { type IdleTracker, yieldTurns } from './idle-tracker.ts'

/** The key shall come again after this time. */
export interface RequeueAfter {
  readonly requeueAfterMs: number
}

export interface WorkQueueOptions<K> {
  /**
   * Brings about what one key stands for. Never runs twice at a time for the same key; a key that is added while it runs
   * runs once more afterwards. When it throws, the key comes again later and later; an answer of `requeueAfterMs` makes it
   * come again without counting as a failure.
   */
  readonly sync: (key: K) => Promise<RequeueAfter | undefined>
  /** Keys at a time. Default 8. */
  readonly workers?: number
  /** Default: as fast as they can. */
  readonly rateLimit?: Pace | undefined
  readonly clock: Clock
  readonly idleTracker: IdleTracker
  /** Told of failures; the key is tried again all the same. */
  readonly onError: (error: unknown) => void
}

const defaultWorkers = 8
const firstDelayMs = 5
const longestDelayMs = 1_000_000
/** So many keys are worked on before others have a turn of the event loop. */
const keysPerTurn = 64

/**
 * Keys to work on, each at most once in the queue.
 *
 *     add --> queued --> running --done--> gone
 *                          |  \--added meanwhile--> queued
 *                          \--failed--> waits (5 ms, doubled with every failure, up to 1000 s) --> queued
 *
 * A conflict between writers is tried again at once the first time: what to do is worked out from the live object anyway.
 */
export class WorkQueue<K> implements AsyncDisposable {
  readonly #options: WorkQueueOptions<K>
  readonly #rateLimiter: QueueRateLimiter | undefined
  /** Queued keys in order, with what ends their counting as work. */
  readonly #queued = new Map<K, () => void>()
  readonly #running = new Map<K, Promise<void>>()
  /** Keys added while they ran. */
  readonly #dirty = new Set<K>()
  readonly #failures = new Map<K, number>()
  readonly #delayed = new Map<K, { readonly at: number; readonly cancel: () => void }>()
  #isStopped = false
  #isStarting = false
  #done = 0
  /** While others have their turn. */
  #turn: Promise<void> | undefined

  constructor(options: WorkQueueOptions<K>) {
    this.#options = options
    const { rateLimit, clock } = options
    this.#rateLimiter = rateLimit === undefined ? undefined : new QueueRateLimiter(rateLimit, clock, () => this.#start())
  }

  add(key: K): void {
    if (this.#isStopped || this.#queued.has(key)) return
    this.#options.idleTracker.noteChange()
    if (this.#running.has(key)) {
      this.#dirty.add(key)
      return
    }
    this.#queued.set(key, this.#options.idleTracker.begin())
    this.#startSoon()
  }

  /** Adds the key when `ms` milliseconds have passed, or earlier when that was asked for before. */
  addAfter(key: K, ms: number): void {
    if (ms <= 0) {
      this.add(key)
      return
    }
    if (this.#isStopped) return
    const { clock } = this.#options
    const at = clock.now() + ms
    const waiting = this.#delayed.get(key)
    if (waiting !== undefined && waiting.at <= at) return
    waiting?.cancel()
    const cancel = clock.setTimeout(() => {
      this.#delayed.delete(key)
      this.add(key)
    }, ms)
    this.#delayed.set(key, { at, cancel })
  }

  /** Drops what waits; resolves when what runs has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true
    this.#rateLimiter?.stop()
    for (const { cancel } of this.#delayed.values()) cancel()
    for (const end of this.#queued.values()) end()
    this.#delayed.clear()
    this.#queued.clear()
    this.#dirty.clear()
    await Promise.all(this.#running.values())
  }

  /** Starts after the events that are being told now, so that they count together. */
  #startSoon(): void {
    if (this.#isStarting) return
    this.#isStarting = true
    queueMicrotask(() => {
      this.#isStarting = false
      this.#start()
    })
  }

  #start(): void {
    const { workers = defaultWorkers } = this.#options
    while (this.#running.size < workers) {
      const next = this.#queued.entries().next()
      if (next.done || this.#rateLimiter?.take() === false) return
      const [key, end] = next.value
      this.#queued.delete(key)
      this.#running.set(
        key,
        this.#run(key).then(() => {
          this.#running.delete(key)
          if (this.#dirty.delete(key)) this.add(key)
          this.#start()
          end()
        }),
      )
    }
  }

  async #run(key: K): Promise<void> {
    try {
      const result = await this.#options.sync(key)
      this.#failures.delete(key)
      if (result !== undefined) this.addAfter(key, result.requeueAfterMs)
    } catch (error) {
      if (this.#isStopped) return
      this.#failed(key, error)
    }
    if (++this.#done % keysPerTurn === 0) {
      this.#turn = yieldTurns(1).then(() => {
        this.#turn = undefined
      })
    }
    await this.#turn
  }

  #failed(key: K, error: unknown): void {
    const failures = (this.#failures.get(key) ?? 0) + 1
    this.#failures.set(key, failures)
    if (failures === 1 && ApiError.is(error) && error.reason === 'Conflict') {
      this.#dirty.add(key)
      return
    }
    this.#options.onError(error)
    this.addAfter(key, Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(failures - 1, 20)))
  }
}

/** Whether the next key may be worked on. */
class QueueRateLimiter {
  readonly #bucket: TokenBucket
  readonly #clock: Clock
  readonly #more: () => void
  /** The turn that was waited for has come. */
  #isGranted = false
  #cancel: (() => void) | undefined

  /** @param more is called when a turn has come after there was none. */
  constructor(rateLimit: Pace, clock: Clock, more: () => void) {
    this.#bucket = new TokenBucket(rateLimit, clock)
    this.#clock = clock
    this.#more = more
  }

  take(): boolean {
    if (this.#cancel !== undefined) return false
    const waitMs = this.#isGranted ? 0 : this.#bucket.reserve()
    this.#isGranted = false
    if (waitMs === 0) return true
    this.#cancel = this.#clock.setTimeout(() => {
      this.#cancel = undefined
      this.#isGranted = true
      this.#more()
    }, waitMs)
    return false
  }

  stop(): void {
    this.#cancel?.()
  }
}
