import type { Fetch } from '@krmkit/base/fetch'
import type { Clock } from '@krmkit/meta'
import type { WebhookRequest, WebhookResponse, WebhookTransport } from '@krmkit/protocol'
import { checkFaultOptions, invalidFault } from './fault-check.ts'
import { checkMembers } from './known-members.ts'
import { checkKinds } from './option-kinds.ts'
import { TestingError } from './testing-error.ts'
import { delayed } from './watch-fault.ts'

/**
 * A fault of a call that the server makes.
 *
 * - `fail`: the webhook responds with this status.
 * - `body`: the webhook responds with 200 and this body.
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

const contentType = 'application/json'

/**
 * Injects faults into the calls of a server. Wrap the options of the server: the transport of admission and conversion
 * webhooks, and the `fetch` of OpenID issuers and of authentication and authorization webhooks.
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

  /** Plans a fault. @throws TestingError `InvalidFault`, `InvalidOption` */
  next(fault: OutboundFault, options: OutboundFaultOptions = {}): void {
    checkMembers('the options of a fault', options, { url: true, times: true })
    checkKinds('the options of a fault', options, { url: 'pattern' })
    const { url } = options
    const { times = 1 } = checkFaultOptions(options.times === undefined ? {} : { times: options.times })
    const isKnown = ['fail', 'body', 'delayMs', 'refused'].some((kind) => kind in Object(fault))
    if (!isKnown) throw invalidFault('a fault of a call has one of fail, body, delayMs, refused')
    checkMembers('a fault of a call', fault, { fail: true, body: true, delayMs: true, refused: true })
    checkKinds('a fault of a call', fault, { fail: 'count', body: 'text', delayMs: 'milliseconds', refused: 'text' })
    if ('fail' in fault && !(fault.fail >= 200 && fault.fail <= 599))
      throw invalidFault(`fail: ${fault.fail} is not a status of HTTP`)
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

  /** Wraps a `fetch`. */
  wrapFetch(fetch: Fetch): Fetch {
    return async (url, init) => {
      const answer = await this.#answer(url, init.signal)
      if (answer === undefined) return fetch(url, init)
      const headers = { get: (name: string) => (name.toLowerCase() === 'content-type' ? contentType : null) }
      return { status: answer.status, headers, body: chunksOf(answer.body) }
    }
  }

  async #send(
    url: string,
    request: WebhookRequest,
    send: (request: WebhookRequest) => Promise<WebhookResponse>,
  ): Promise<WebhookResponse> {
    const answer = await this.#answer(url, request.signal)
    return answer === undefined ? send(request) : { ...answer, headers: { 'content-type': contentType } }
  }

  /** Returns the response of a fault in place of that of the called server; undefined if the call proceeds. */
  async #answer(url: string, signal: AbortSignal): Promise<{ readonly status: number; readonly body: Uint8Array } | undefined> {
    const planned = this.#planned.find((each) => each.url?.test(url) ?? true)
    if (planned === undefined) return undefined
    if (--planned.times === 0) this.#planned = this.#planned.filter((each) => each !== planned)
    const { fault } = planned
    if ('refused' in fault) throw new Error(fault.refused)
    if ('delayMs' in fault) {
      if (this.#clock !== undefined) await delayed(fault.delayMs, { clock: this.#clock, signal })
      signal.throwIfAborted()
      return undefined
    }
    const { body = '' } = fault
    return { status: 'fail' in fault ? fault.fail : 200, body: new TextEncoder().encode(body) }
  }
}

async function* chunksOf(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body
}
