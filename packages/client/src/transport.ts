/** What carries requests: the seam between the client and the two ways to a server. */

import type { SharedEvent } from '@krmkit/apiserver'

export interface TransportRequest {
  readonly method: string
  /** Raw path, still percent-encoded. */
  readonly path: string
  /** Raw query without the question mark; empty when there is none. */
  readonly query: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body?: Uint8Array
  readonly signal?: AbortSignal
}

export interface TransportResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The body, once. Leaving the loop ends the request. */
  readonly body: AsyncIterable<Uint8Array>
  /** The events of a watch in the same process, frozen and shared: may be read in place of the body. */
  readonly events?: AsyncIterable<readonly SharedEvent[]> | undefined
}

export interface Transport {
  /** @throws ClientError when no answer came. Rejects with the reason of the signal when it aborts. */
  send(request: TransportRequest): Promise<TransportResponse>
  close(): Promise<void>
}
