import type { RequestSpan } from '@krmkit/base/tracing'
import type { Clock } from '@krmkit/meta'
import type { RequestBounds } from '../interfaces.ts'

/** The deadline of one call: the earlier of the webhook's timeout and the request's deadline; also ends when the client disconnects. */
export class CallDeadline {
  /** The `timeout` query parameter of the call. */
  readonly timeoutSeconds: number
  /** The span of the call. */
  readonly span: RequestSpan | undefined
  readonly #remainingMs: number
  readonly #clock: Clock
  readonly #bounds: RequestBounds | undefined
  #controller: AbortController | undefined
  #ended: Error | undefined

  constructor(
    clock: Clock,
    timeoutMs: number,
    { bounds, span }: { readonly bounds: RequestBounds | undefined; readonly span: RequestSpan | undefined },
  ) {
    this.span = span
    this.#clock = clock
    this.#bounds = bounds
    this.#remainingMs = bounds?.deadline === undefined ? timeoutMs : Math.min(timeoutMs, bounds.deadline - clock.now())
    this.timeoutSeconds = Math.max(1, Math.ceil(this.#remainingMs / 1000))
  }

  /** Aborts at the deadline. Created on first use. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#ended !== undefined) this.#controller.abort(this.#ended)
    return this.#controller.signal
  }

  /** Settles with `running`, or rejects with the error of `timeoutError` when the deadline passes first. */
  async limit<T>(running: Promise<T>, timeoutError: (reason: string) => Error): Promise<T> {
    // A late rejection must not become an unhandled one.
    running.catch(() => undefined)
    const client = this.#bounds?.signal
    let end: (reason: string) => void = () => undefined
    const ended = new Promise<never>((_, reject) => {
      end = (reason) => {
        this.#ended = new Error(reason)
        this.#controller?.abort(this.#ended)
        reject(timeoutError(reason))
      }
    })
    const cancelTimer = this.#clock.setTimeout(() => end('context deadline exceeded'), Math.max(0, this.#remainingMs))
    const onDisconnect = () => end('context canceled')
    client?.addEventListener('abort', onDisconnect, { once: true })
    if (client?.aborted) onDisconnect()
    try {
      return await Promise.race([running, ended])
    } finally {
      cancelTimer()
      client?.removeEventListener('abort', onDisconnect)
    }
  }
}
