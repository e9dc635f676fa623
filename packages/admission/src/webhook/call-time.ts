import type { Clock } from '@krmkit/meta'
import type { RequestBounds } from '../interfaces.ts'

/** The time of one call: over when the webhook's time is, or that of the request, or when the client leaves. */
export class CallTime {
  /** What the webhook is told. */
  readonly timeoutSeconds: number
  readonly #leftMs: number
  readonly #clock: Clock
  readonly #bounds: RequestBounds | undefined
  #controller: AbortController | undefined
  #ended: Error | undefined

  constructor(clock: Clock, timeoutMs: number, bounds: RequestBounds | undefined) {
    this.#clock = clock
    this.#bounds = bounds
    this.#leftMs = bounds?.deadline === undefined ? timeoutMs : Math.min(timeoutMs, bounds.deadline - clock.now())
    this.timeoutSeconds = Math.max(1, Math.ceil(this.#leftMs / 1000))
  }

  /** Aborts when the time is over. Made only for those who listen. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#ended !== undefined) this.#controller.abort(this.#ended)
    return this.#controller.signal
  }

  /** What `running` gives, unless the time is over before; then `late` makes the failure. */
  async limit<T>(running: Promise<T>, late: (reason: string) => Error): Promise<T> {
    // What comes too late is nobody's any more.
    running.catch(() => undefined)
    const client = this.#bounds?.signal
    let end: (why: string) => void = () => undefined
    const over = new Promise<never>((_, reject) => {
      end = (why) => {
        this.#ended = new Error(why)
        this.#controller?.abort(this.#ended)
        reject(late(why))
      }
    })
    const cancel = this.#clock.setTimeout(() => end('context deadline exceeded'), Math.max(0, this.#leftMs))
    const leave = () => end('context canceled')
    client?.addEventListener('abort', leave, { once: true })
    if (client?.aborted) leave()
    try {
      return await Promise.race([running, over])
    } finally {
      cancel()
      client?.removeEventListener('abort', leave)
    }
  }
}
