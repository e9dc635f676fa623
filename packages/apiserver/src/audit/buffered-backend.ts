import { TokenBucket } from '@krmkit/base/token-bucket'
import type { Clock } from '@krmkit/meta'
import { AuditError } from './audit-error.ts'
import type { AuditBackend, AuditEvent } from './interfaces.ts'

/** Batching of audit events. */
export interface BufferOptions {
  readonly clock: Clock
  /** Maximum number of buffered events; further events are lost. */
  readonly bufferSize: number
  /** Maximum number of events in a batch. */
  readonly maxBatchSize: number
  /** Milliseconds after which an incomplete batch is sent. */
  readonly maxBatchWaitMs: number
  /** Batches per second, and the burst after idle time. Default: no limit. */
  readonly throttle?: { readonly qps: number; readonly burst: number } | undefined
  /** Called with each batch that the backend failed to process. */
  readonly onLost: (events: readonly AuditEvent[], error: unknown) => void
}

/**
 * Buffers events and sends them in batches, so that requests do not wait for the backend.
 *
 *     buffered --batch full | maxBatchWaitMs--> sent, one batch at a time
 *
 * @example
 * ```ts
 * import { auditLog, bufferedAudit } from '@krmkit/apiserver/audit'
 * import { systemClock } from '@krmkit/meta'
 *
 * const log = auditLog({ write: async (text) => void process.stdout.write(text) })
 * const limits = { bufferSize: 10_000, maxBatchSize: 400, maxBatchWaitMs: 30_000 }
 * const backend = bufferedAudit(log, { ...limits, clock: systemClock, onLost: (events) => console.error(`${events.length} lost`) })
 * ```
 */
export function bufferedAudit(backend: AuditBackend, options: BufferOptions): AuditBackend {
  return new BufferedBackend(backend, options)
}

/** How long `close` waits for the last events. */
const closeWaitMs = 5000

class BufferedBackend implements AuditBackend {
  readonly #backend: AuditBackend
  readonly #options: BufferOptions
  readonly #throttle: Throttle | undefined
  #waiting: AuditEvent[] = []
  /** Number of events in batches that are being sent. */
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
      throw new AuditError({ code: 'BufferFull', message: 'the audit buffer is full: events are lost' })
    }
    this.#waiting.push(...events)
    while (this.#waiting.length >= maxBatchSize) this.#send(this.#waiting.splice(0, maxBatchSize))
    if (this.#waiting.length > 0) this.#cancelTimer ??= clock.setTimeout(() => this.#sendAll(), maxBatchWaitMs)
  }

  async close(): Promise<void> {
    const { clock } = this.#options
    this.#throttle?.release()
    this.#sendAll()
    // On close, the backend gets less time than in normal operation.
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

/** Limits the rate of batches. */
class Throttle {
  readonly #bucket: TokenBucket
  readonly #clock: Clock
  #isReleased = false
  #wake: (() => void) | undefined

  constructor({ qps, burst }: { readonly qps: number; readonly burst: number }, clock: Clock) {
    this.#bucket = new TokenBucket({ perSecond: qps, burst }, clock)
    this.#clock = clock
  }

  /** Lifts the limit. */
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
