import type { SharedEvent } from './interfaces.ts'

/** The interface between a client and its transport to a server: in-process calls, or HTTPS. */

export interface TransportRequest {
  readonly method: string
  /** Raw path, percent-encoded. */
  readonly path: string
  /** Raw query without the question mark; empty when absent. */
  readonly query: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body?: Uint8Array
  readonly signal?: AbortSignal
}

export interface TransportResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The body; readable once. Leaving the loop ends the request. */
  readonly body: AsyncIterable<Uint8Array>
  /** Events of an in-process watch, frozen and shared. Read either `events` or `body`. */
  readonly events?: AsyncIterable<readonly SharedEvent[]> | undefined
}

export interface Transport {
  /**
   * Sends one request.
   *
   * @throws ClientError when the server cannot be reached; rejects with the reason of the signal when it aborts
   */
  send(request: TransportRequest): Promise<TransportResponse>
  close(): Promise<void>
}
