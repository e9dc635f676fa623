import type { SeatRequest } from './seat-request.ts'

export interface LingeringOptions {
  readonly now: () => number
  readonly setTimeout: (fn: () => void, ms: number) => () => void
  /** Called when the seats of these requests become free. */
  readonly release: (requests: readonly SeatRequest[]) => void
}

/** Finished requests whose seats are still in use. One timer serves all of them. */
export class LingeringSeats {
  readonly #options: LingeringOptions
  /** Sorted by end of lingering. */
  readonly #lingering: { readonly request: SeatRequest; readonly until: number }[] = []
  #cancel: (() => void) | undefined

  constructor(options: LingeringOptions) {
    this.#options = options
  }

  add(request: SeatRequest, now: number): void {
    const until = now + request.lingerMs
    let at = this.#lingering.length
    while (at > 0 && (this.#lingering[at - 1] as { until: number }).until > until) at--
    this.#lingering.splice(at, 0, { request, until })
    if (at > 0) return
    this.#cancel?.()
    this.#cancel = this.#options.setTimeout(this.#end, request.lingerMs)
  }

  readonly #end = (): void => {
    const now = this.#options.now()
    // A timer may fire a little early.
    const later = this.#lingering.findIndex(({ until }) => until > now + 0.5)
    const ended = this.#lingering.splice(0, later < 0 ? this.#lingering.length : later)
    const first = this.#lingering[0]
    this.#cancel = first && this.#options.setTimeout(this.#end, first.until - now)
    this.#options.release(ended.map(({ request }) => request))
  }
}
