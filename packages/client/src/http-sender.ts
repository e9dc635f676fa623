import type { Clock } from '@krmkit/meta'
import type { Transport, TransportRequest, TransportResponse } from '@krmkit/protocol'
import { sleep } from './backoff.ts'
import { apiErrorOf, type BodyDecoder, drain, retryAfterOf, warningsOf } from './response.ts'

export interface HttpSenderOptions {
  readonly clock: Clock
  /** Default headers; headers of a request take precedence. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** Maximum number of retries after responses with a Retry-After. */
  readonly maxRetries: number
  /** Decodes the Status of a failure. */
  readonly codec: BodyDecoder
  /** Receives the text of each Warning header. */
  readonly onWarning: ((text: string) => void) | undefined
}

/** Sends requests over a transport with default headers, retries after Retry-After, and reports warnings. */
export class HttpSender {
  readonly #transport: Transport
  readonly #options: HttpSenderOptions

  constructor(transport: Transport, options: HttpSenderOptions) {
    this.#transport = transport
    this.#options = options
  }

  /** Returns the response, regardless of its status. */
  async send(request: TransportRequest): Promise<TransportResponse> {
    const { headers, maxRetries, onWarning, clock } = this.#options
    const complete = { ...request, headers: { ...headers, ...request.headers } }
    for (let retries = 0; ; retries++) {
      const response = await this.#transport.send(complete)
      const seconds = retries < maxRetries ? retryDelayOf(response) : undefined
      if (seconds === undefined) {
        if (onWarning !== undefined) for (const text of warningsOf(response)) onWarning(text)
        return response
      }
      await drain(response.body)
      await sleep(seconds * 1000, { clock, signal: request.signal })
    }
  }

  /** Returns a successful response. @throws ApiError for a status of 400 or above */
  async sendOrThrow(request: TransportRequest): Promise<TransportResponse> {
    const response = await this.send(request)
    if (response.status >= 400) throw await apiErrorOf(response, { method: request.method, codec: this.#options.codec })
    return response
  }

  close(): Promise<void> {
    return this.#transport.close()
  }
}

/** Returns the seconds of Retry-After for 429 and 5xx responses. */
function retryDelayOf(response: TransportResponse): number | undefined {
  return response.status === 429 || response.status >= 500 ? retryAfterOf(response) : undefined
}
