import type { ApiResponse } from './interfaces.ts'

/** Requests that an API server sends: to webhooks, to servers of aggregated APIs, and to pods and nodes. */

/** A TLS server to which requests are sent, with certificates. */
export interface WebhookTarget {
  /** URL origin: `https://host:port`. */
  readonly origin: string
  /** PEM of the trusted authorities. Absent: the authorities of the platform. */
  readonly ca?: string
  /** PEM of the client certificate; requires `key`. */
  readonly certificate?: string
  /** PEM of the private key of `certificate`. */
  readonly key?: string
  /** Name that the server certificate must match, if it differs from the host of `origin`. */
  readonly serverName?: string
  /**
   * Resolves the address to connect to, once per request, if it differs from `origin`. Rejects with an error whose message
   * is reported.
   */
  readonly resolve?: () => Promise<ServiceAddress>
}

export interface ServiceAddress {
  readonly host: string
  readonly port: number
}

export interface WebhookRequest {
  readonly method: 'POST' | 'GET'
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
  /** Maximum length of the response body; a longer one is an error. */
  readonly limitBytes: number
}

export interface WebhookResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
}

/** Sends one request. Rejects with an Error whose message states why there is no response. */
export type WebhookSender = (request: WebhookRequest) => Promise<WebhookResponse>

/** Transport to webhooks over HTTPS. Connections to a target are kept alive and reused. */
export interface WebhookTransport {
  /** @throws Error when the authorities, the certificate or the key are invalid */
  open(target: WebhookTarget): WebhookSender
}

/** A request to forward. */
export interface ProxiedRequest {
  readonly method: string
  /** Path and query, percent-encoded. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  /** Address to connect to. Default: the address of the target. */
  readonly address?: ServiceAddress
  /** The body. An iterable is pulled only as fast as the other server reads. Absent: no body. */
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
  /** Whether the headers request another protocol; the response body may then be a `connection`. */
  readonly upgrade?: boolean
  readonly signal: AbortSignal
}

/** Forwards requests. Redirects are not followed. */
export interface ProxyTransport {
  /** @throws Error when the authorities, the certificate or the key are invalid */
  open(target: ProxyTarget): ProxyConnection
  /**
   * Resolves a host name to its IP addresses, at least one. Rejects with an Error that states why there is none. Absent if
   * names cannot be resolved.
   */
  lookup?(host: string): Promise<readonly string[]>
}

/** A server to which requests are forwarded. */
export interface ProxyConnection {
  /** The body of the response is a stream, or a connection after 101. Rejects with an Error that states why there is no response. */
  send(request: ProxiedRequest): Promise<ApiResponse>
  /** Closes idle connections and accepts no more requests; those in flight continue. */
  close(): void
}

export interface ProxyTarget extends WebhookTarget {
  /** URL origin: `https://host:port`, or `http://host:port` without TLS. */
  readonly origin: string
  /** Path of the Unix socket to connect to, if the target has no address. */
  readonly socketPath?: string
  /** Whether to skip verification of the server certificate. */
  readonly insecure?: boolean
}
