import type { Clock } from '@krmkit/meta'
import { pause } from './backoff.ts'
import { failureOf, retryAfterOf, warningsOf } from './response.ts'
import type { Transport, TransportRequest, TransportResponse } from './transport.ts'

export interface CallerOptions {
  readonly clock: Clock
  /** Sent with every request, unless the request has its own. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** How often a request is sent again when the server asks to come back later. */
  readonly maxRetries: number
  /** Told of every Warning of an answer. */
  readonly onWarning: ((text: string) => void) | undefined
}

/** Sends requests over a transport the way every call wants it: default headers, coming back later, warnings, failures. */
export class HttpSender {
  readonly #transport: Transport
  readonly #options: CallerOptions

  constructor(transport: Transport, options: CallerOptions) {
    this.#transport = transport
    this.#options = options
  }

  /** The answer, whatever its status. */
  async ask(request: TransportRequest): Promise<TransportResponse> {
    const { headers, maxRetries, onWarning, clock } = this.#options
    const complete = { ...request, headers: { ...headers, ...request.headers } }
    for (let retries = 0; ; retries++) {
      const response = await this.#transport.send(complete)
      const seconds = retries < maxRetries ? comeBackAfter(response) : undefined
      if (seconds === undefined) {
        if (onWarning !== undefined) for (const text of warningsOf(response)) onWarning(text)
        return response
      }
      await drop(response.body)
      await pause(seconds * 1000, { clock, signal: request.signal })
    }
  }

  /** The answer of a request that succeeded. @throws ApiError when it did not. */
  async call(request: TransportRequest): Promise<TransportResponse> {
    const response = await this.ask(request)
    if (response.status >= 400) throw await failureOf(response, request)
    return response
  }

  close(): Promise<void> {
    return this.#transport.close()
  }
}

/** Seconds to wait when the server asks for it: 429, or a failure of its own, with a Retry-After. */
function comeBackAfter(response: TransportResponse): number | undefined {
  return response.status === 429 || response.status >= 500 ? retryAfterOf(response) : undefined
}

async function drop(body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of body) {
    // Read to the end, so that the connection can be used again.
  }
}
