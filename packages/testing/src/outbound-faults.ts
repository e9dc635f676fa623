import type { Clock } from '@krmkit/meta'
import type { WebhookRequest, WebhookResponse, WebhookTransport } from '@krmkit/protocol'
import { TestingError } from './testing-error.ts'
import { delayed } from './watch-fault.ts'

/**
 * A fault of a call that the server makes.
 *
 * - `fail`: the webhook answers with this status.
 * - `body`: the webhook answers 200 with this body.
 * - `delayMs`: the call takes this time on the clock, so that its timeout may pass first.
 * - `refused`: the call has no answer, for this reason.
 */
export type OutboundFault =
  | { readonly fail: number; readonly body?: string }
  | { readonly body: string }
  | { readonly delayMs: number }
  | { readonly refused: string }

export interface OutboundFaultOptions {
  /** URLs of the calls, as `https://host:port/path`. Default: all. */
  readonly url?: RegExp
  /** Number of calls that fail. Default 1. */
  readonly times?: number
}

interface PlannedCall {
  readonly fault: OutboundFault
  readonly url: RegExp | undefined
  times: number
}

/**
 * Injects faults into the calls of a server: to admission, conversion, authentication and authorization webhooks. Wrap the transport that
 * the server is given.
 *
 * @example
 * import { OutboundFaults } from '@krmkit/testing'
 * const calls = new OutboundFaults()
 * const transport = calls.wrap({ open: () => async () => ({ status: 200, headers: {}, body: new Uint8Array() }) })
 * calls.next({ refused: 'connect: connection refused' }, { url: /^https:\/\/policy\./, times: 3 })
 */
export class OutboundFaults {
  readonly #clock: Clock | undefined
  #planned: PlannedCall[] = []

  /** @param clock clock of delays */
  constructor(clock?: Clock) {
    this.#clock = clock
  }

  /** Plans a fault. @throws TestingError `InvalidFault` */
  next(fault: OutboundFault, { url, times = 1 }: OutboundFaultOptions = {}): void {
    const isKnown = ['fail', 'body', 'delayMs', 'refused'].some((kind) => kind in fault)
    if (!isKnown)
      throw new TestingError({ code: 'InvalidFault', message: 'a fault of a call has one of fail, body, delayMs, refused' })
    if ('delayMs' in fault && this.#clock === undefined) {
      throw new TestingError({ code: 'InvalidFault', message: 'delayMs needs a clock: new OutboundFaults(clock)' })
    }
    this.#planned.push({ fault, url, times })
  }

  /** Wraps a transport. */
  wrap(transport: WebhookTransport): WebhookTransport {
    return {
      open: (target) => {
        const send = transport.open(target)
        return (request) => this.#send(`${target.origin}${request.path}`, request, send)
      },
    }
  }

  async #send(
    url: string,
    request: WebhookRequest,
    send: (request: WebhookRequest) => Promise<WebhookResponse>,
  ): Promise<WebhookResponse> {
    const planned = this.#planned.find((each) => each.url?.test(url) ?? true)
    if (planned === undefined) return send(request)
    if (--planned.times === 0) this.#planned = this.#planned.filter((each) => each !== planned)
    const { fault } = planned
    if ('refused' in fault) throw new Error(fault.refused)
    if ('delayMs' in fault) {
      if (this.#clock !== undefined) await delayed(fault.delayMs, { clock: this.#clock, signal: request.signal })
      request.signal.throwIfAborted()
      return send(request)
    }
    const { body = '' } = fault
    const status = 'fail' in fault ? fault.fail : 200
    return { status, headers: { 'content-type': 'application/json' }, body: new TextEncoder().encode(body) }
  }
}
