import type { Clock } from '@krmkit/meta'
import type { RecordedSpan } from './recorded-span.ts'

/** The limits of the batch processor of OpenTelemetry. */
const maxQueued = 2048
const maxBatch = 512
const delayMs = 5000

export interface SpanQueueOptions {
  readonly clock: Pick<Clock, 'setTimeout'>
  /** Sends a batch. */
  readonly send: (spans: readonly RecordedSpan[]) => Promise<void>
  /** Called with the reason where a batch is lost. */
  readonly onError: (error: unknown) => void
}

/** Sends spans in batches, one after the other: every 5 seconds, or when 512 are waiting. Spans above 2048 are dropped. */
export class SpanQueue {
  readonly #options: SpanQueueOptions
  #spans: RecordedSpan[] = []
  #cancel: (() => void) | undefined
  #sending: Promise<void> = Promise.resolve()
  #isSending = false

  constructor(options: SpanQueueOptions) {
    this.#options = options
  }

  readonly add = (span: RecordedSpan): void => {
    if (this.#spans.length >= maxQueued) return
    this.#spans.push(span)
    if (this.#isSending) return
    if (this.#spans.length >= maxBatch) this.#start()
    else this.#cancel ??= this.#options.clock.setTimeout(() => this.#start(), delayMs)
  }

  /** Sends what is waiting. */
  async close(): Promise<void> {
    await this.#sending
    this.#start()
    await this.#sending
    this.#cancel?.()
  }

  #start(): void {
    this.#cancel?.()
    this.#cancel = undefined
    if (!this.#isSending) this.#sending = this.#send()
  }

  async #send(): Promise<void> {
    this.#isSending = true
    while (this.#spans.length > 0) {
      const batch = this.#spans.splice(0, maxBatch)
      try {
        await this.#options.send(batch)
      } catch (error) {
        this.#options.onError(error)
      }
    }
    this.#isSending = false
  }
}
