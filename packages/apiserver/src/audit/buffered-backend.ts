import { type Clock, TokenBucket } from '@krmkit/meta'
import { AuditError } from './audit-error.ts'
import type { AuditBackend, AuditEvent } from './interfaces.ts'

/** How entries are collected before they are handed on. */
export interface BufferOptions {
  readonly clock: Clock
  /** Entries that wait at most; what comes then is lost. */
  readonly bufferSize: number
  /** Entries handed on together at most. */
  readonly maxBatchSize: number
  /** Milliseconds after which a batch goes, however small. */
  readonly maxBatchWaitMs: number
  /** Batches a second, and how many may go at once after a pause. Absent: no limit. */
  readonly throttle?: { readonly qps: number; readonly burst: number } | undefined
  /** Hears of batches that could not be handed on. */
  readonly onLost: (events: readonly AuditEvent[], error: unknown) => void
}

/**
 * Collects entries and hands them on in batches, so that no request waits for them.
 *
 *     waiting --full batch | time is over--> handed on, one batch after the other
 */
export function bufferedAudit(backend: AuditBackend, options: BufferOptions): AuditBackend {
  return new BufferedBackend(backend, options)
}

/** How long the last entries may take. */
const closeWaitMs = 5000

class BufferedBackend implements AuditBackend {
  readonly #backend: AuditBackend
  readonly #options: BufferOptions
  readonly #throttle: Throttle | undefined
  #waiting: AuditEvent[] = []
  /** Entries that were taken from `#waiting` and are not handed on yet. */
  #sending = 0
  #cancelTimer: (() => void) | undefined
  #work: Promise<void> = Promise.resolve()

  constructor(backend: AuditBackend, options: BufferOptions) {
    this.#backend = backend
    this.#options = options
    this.#throttle = options.throttle === undefined ? undefined : new Throttle(options.throttle, options.clock)
  }

  process(events: readonly AuditEvent[]): void {
    const { bufferSize, maxBatchSize, maxBatchWaitMs, clock } = this.#options
    if (this.#waiting.length + this.#sending + events.length > bufferSize) {
      throw new AuditError({ code: 'BufferFull', message: 'the buffer of the audit trail is full: entries are lost' })
    }
    this.#waiting.push(...events)
    while (this.#waiting.length >= maxBatchSize) this.#send(this.#waiting.splice(0, maxBatchSize))
    if (this.#waiting.length > 0) this.#cancelTimer ??= clock.setTimeout(() => this.#sendAll(), maxBatchWaitMs)
  }

  async close(): Promise<void> {
    const { clock } = this.#options
    this.#throttle?.release()
    this.#sendAll()
    // Whoever does not take entries now is not waited for as long as while the server runs.
    let cancel = () => {}
    const over = new Promise<void>((resolve) => {
      cancel = clock.setTimeout(resolve, closeWaitMs)
    })
    await Promise.race([this.#work, over])
    cancel()
    await this.#backend.close?.()
    await this.#work
  }

  #sendAll(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    if (this.#waiting.length > 0) this.#send(this.#waiting.splice(0))
  }

  #send(batch: readonly AuditEvent[]): void {
    this.#sending += batch.length
    this.#work = this.#work.then(async () => {
      try {
        await this.#throttle?.take()
        await this.#backend.process(batch)
      } catch (error) {
        this.#options.onLost(batch, error)
      } finally {
        this.#sending -= batch.length
      }
    })
  }
}

/** Holds batches back to the pace of the throttle. */
class Throttle {
  readonly #bucket: TokenBucket
  readonly #clock: Clock
  #isReleased = false
  #wake: (() => void) | undefined

  constructor({ qps, burst }: { readonly qps: number; readonly burst: number }, clock: Clock) {
    this.#bucket = new TokenBucket({ perSecond: qps, burst }, clock)
    this.#clock = clock
  }

  /** From now on nobody waits. */
  release(): void {
    this.#isReleased = true
    this.#wake?.()
  }

  async take(): Promise<void> {
    const waitMs = this.#bucket.reserve()
    if (waitMs === 0 || this.#isReleased) return
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.setTimeout(resolve, waitMs)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
    this.#wake = undefined
  }
}
