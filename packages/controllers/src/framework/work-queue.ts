import { type RateLimit, TokenBucket } from '@krmkit/base/token-bucket'
import { ApiError, type Clock } from '@krmkit/meta'
import { type IdleTracker, yieldTurns } from './idle-tracker.ts'
import { TurnBudget } from './turn-budget.ts'

/** Requeues a key after a delay, in milliseconds. */
export interface RequeueAfter {
  readonly requeueAfterMs: number
}

/** One run of `sync`. */
export interface QueueRun {
  /** String form of the key. */
  readonly key: string
  /** Start and end on the clock of the queue, in milliseconds since the epoch. */
  readonly startMs: number
  readonly endMs: number
  /** Duration in milliseconds on the system clock, including waits for responses. */
  readonly durationMs: number
  /** `failed`: the key is retried. */
  readonly outcome: 'done' | 'requeued' | 'failed'
  /** Delay until the next run; set for the outcome `requeued`. */
  readonly requeueAfterMs?: number
  /** What `sync` threw; set for the outcome `failed`. */
  readonly error?: unknown
}

export interface WorkQueueOptions<K> {
  /**
   * Processes one key. Never runs concurrently for the same key; a key added while it runs is processed once more. When it throws, the
   * key is retried with exponential backoff. Returning `requeueAfterMs` requeues the key without counting as a failure.
   */
  readonly sync: (key: K) => Promise<RequeueAfter | undefined>
  /** Number of keys processed concurrently. Default 8. */
  readonly workers?: number
  /** Rate limit for processing keys. Default: none. */
  readonly rateLimit?: RateLimit | undefined
  readonly clock: Clock
  readonly idleTracker: IdleTracker
  /** Time budget shared by queues that run together. Default: a budget for this queue alone. */
  readonly turnBudget?: TurnBudget
  /** Receives errors of `sync`; the key is retried in any case. */
  readonly onError: (error: unknown) => void
  /** Receives each run when it has ended. Default: runs are not measured. */
  readonly onRun?: ((run: QueueRun) => void) | undefined
}

const defaultWorkers = 8
const baseDelayMs = 5
const maxDelayMs = 1_000_000
/** Maximum number of keys started before the queue yields to the event loop. */
const keysPerTurn = 64

/**
 * A queue of keys to process, each queued at most once.
 *
 *     add --> queued --> running --done--> removed
 *                          |  \--added meanwhile--> queued
 *                          \--failed--> delayed (5 ms, doubled with every failure, up to 1000 s) --> queued
 *
 * The first conflict of a key is retried immediately, because `sync` starts from the live object.
 */
export class WorkQueue<K> implements AsyncDisposable {
  readonly #options: WorkQueueOptions<K>
  readonly #rateLimiter: QueueRateLimiter | undefined
  /** Queued keys in order, with the function that ends their tracking as pending work. */
  readonly #queued = new Map<K, () => void>()
  readonly #running = new Map<K, Promise<void>>()
  /** Keys added while running. */
  readonly #dirty = new Set<K>()
  readonly #failures = new Map<K, number>()
  readonly #delayed = new Map<K, { readonly at: number; readonly cancel: () => void }>()
  #isStopped = false
  #isStarting = false
  /** The queue continues on the next turn of the event loop. */
  #isPaused = false
  readonly #turnBudget: TurnBudget
  #started = 0

  constructor(options: WorkQueueOptions<K>) {
    this.#options = options
    const { rateLimit, clock, turnBudget = new TurnBudget() } = options
    this.#turnBudget = turnBudget
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

  /** Adds a key after `ms` milliseconds, or earlier if already scheduled. */
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

  /** Adds a key when `synced` resolves, which means that an informer has its first list. */
  addAfterSync(key: K, synced: Promise<void>): void {
    synced.then(
      () => this.add(key),
      () => undefined,
    )
  }

  /** Drops queued keys. Resolves when running ones have ended. */
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

  /** Starts in a microtask, so that events of one batch are coalesced. */
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
    while (this.#running.size < workers && this.#queued.size > 0) {
      if (this.#pauses()) return
      const next = this.#queued.entries().next()
      if (next.done || this.#rateLimiter?.tryAcquire() === false) return
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
    const end = this.#options.onRun === undefined ? undefined : this.#measured(key)
    try {
      const result = await this.#options.sync(key)
      this.#failures.delete(key)
      end?.(result === undefined ? { outcome: 'done' } : { outcome: 'requeued', requeueAfterMs: result.requeueAfterMs })
      if (result !== undefined) this.addAfter(key, result.requeueAfterMs)
    } catch (error) {
      if (this.#isStopped) return
      end?.({ outcome: 'failed', error })
      this.#retry(key, error)
    }
  }

  /** Starts measuring a run. @returns a function that reports its end */
  #measured(key: K): (result: Pick<QueueRun, 'outcome' | 'requeueAfterMs' | 'error'>) => void {
    const { clock, onRun } = this.#options
    const startMs = clock.now()
    const from = performance.now()
    const text = typeof key === 'string' ? key : JSON.stringify(key)
    return (result) => onRun?.({ key: text, startMs, endMs: clock.now(), durationMs: performance.now() - from, ...result })
  }

  /**
   * Whether the queue must continue on the next turn because the time budget or the number of keys of this turn is used up.
   */
  #pauses(): boolean {
    if (this.#isPaused) return true
    const pausing = ++this.#started % keysPerTurn === 0 ? yieldTurns(1) : this.#turnBudget.pause()
    if (pausing === undefined) return false
    this.#isPaused = true
    pausing.then(() => {
      this.#isPaused = false
      this.#start()
    })
    return true
  }

  #retry(key: K, error: unknown): void {
    const failures = (this.#failures.get(key) ?? 0) + 1
    this.#failures.set(key, failures)
    if (failures === 1 && ApiError.is(error) && error.reason === 'Conflict') {
      this.#dirty.add(key)
      return
    }
    this.#options.onError(error)
    this.addAfter(key, Math.min(maxDelayMs, baseDelayMs * 2 ** Math.min(failures - 1, 20)))
  }
}

/** Decides when the next key may be processed. */
class QueueRateLimiter {
  readonly #bucket: TokenBucket
  readonly #clock: Clock
  readonly #onAvailable: () => void
  /** Whether a token was reserved and its delay has passed. */
  #isGranted = false
  #cancel: (() => void) | undefined

  /** @param onAvailable called when a token becomes available after `tryAcquire` returned false */
  constructor(rateLimit: RateLimit, clock: Clock, onAvailable: () => void) {
    this.#bucket = new TokenBucket(rateLimit, clock)
    this.#clock = clock
    this.#onAvailable = onAvailable
  }

  tryAcquire(): boolean {
    if (this.#cancel !== undefined) return false
    const waitMs = this.#isGranted ? 0 : this.#bucket.reserve()
    this.#isGranted = false
    if (waitMs === 0) return true
    this.#cancel = this.#clock.setTimeout(() => {
      this.#cancel = undefined
      this.#isGranted = true
      this.#onAvailable()
    }, waitMs)
    return false
  }

  stop(): void {
    this.#cancel?.()
  }
}
