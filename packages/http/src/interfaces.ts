import type { Clock, NamingProfile, Random } from '@krmkit/meta'
import type { Handler } from '@krmkit/protocol'

/**
 * The adapter between sockets and an `ApiServer`: one port that speaks HTTP/1.1 and HTTP/2, over TLS or plain.
 *
 * It translates and bounds, nothing more: what a request means and every answer to it is the business of the handler.
 */

/** What is served: an `ApiServer`, or anything with the same function. */
export interface Served {
  readonly handle: Handler
}

/** Certificate and key are PEM; `clientCa` is the PEM bundle that clients are told of when they are asked for a certificate. */
export interface TlsFiles {
  readonly certificate: string
  readonly key: string
  /** Authority to hand to clients; only passed on as `Listening.authority`. */
  readonly authority?: string
  readonly clientCa?: string
}

/** A certificate that the adapter makes and keeps itself; made by `selfSigned()`. */
export interface TlsSelfSigned {
  readonly directory: string
  readonly hosts: readonly string[]
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
  readonly profile: Pick<NamingProfile, 'vendor'>
  readonly clientCa?: string
}

export interface ListenLimits {
  /** Request line and headers together. Default 1 MiB, as the stock server. */
  readonly headerBytes: number
  /** From the first byte (or the accepted connection) to the end of the headers. Default 32 s. */
  readonly headersTimeoutMs: number
  /** From the first byte to the end of the body. Default 60 s. */
  readonly requestTimeoutMs: number
  /** An idle connection is closed after this. Default 90 s. */
  readonly idleTimeoutMs: number
  readonly handshakeTimeoutMs: number
  /** HTTP/2 streams of one connection at a time. Default 250. */
  readonly concurrentStreams: number
  /**
   * A body that is being read must bring `bodyBytesPerSecond` on average in each window of this length, or the request ends with 408.
   * Default 10 s.
   */
  readonly bodyWindowMs: number
  /** Default 500: what the slowest lines of telephones carry. */
  readonly bodyBytesPerSecond: number
  /**
   * Connections that have not sent a whole request head, their handshake included; above it the one that has waited longest is closed.
   * Default 4096.
   */
  readonly pendingConnections: number
  /** The same for each remote address. Default 512. */
  readonly pendingConnectionsPerAddress: number
  /** Above this many connections new ones are closed at once. Default: no limit. */
  readonly connections: number
}

export interface ListenOptions {
  /** 0 (default) takes a free one. */
  readonly port?: number
  /** Address to listen on. Default `127.0.0.1`. */
  readonly host?: string
  /** `false`: plain HTTP/1.1. */
  readonly tls: TlsFiles | TlsSelfSigned | false
  readonly limits?: Partial<ListenLimits>
  /** How long `close()` waits for answers under way before it cuts them off. Default 10 s. */
  readonly graceMs?: number
  /** Chance (0 to 0.02) that an HTTP/2 connection is asked to go away after an answer, so that load moves between servers. */
  readonly goaway?: { readonly chance: number; readonly random: Pick<Random, 'bytes'> }
  /** Told of faults that no client sees: a handler that threw, a stream that broke off. */
  readonly onFault?: (error: unknown) => void
}

/** A server that listens. */
export interface Listening extends AsyncDisposable {
  /** `https://127.0.0.1:6443`; wildcard addresses appear as loopback. */
  readonly url: string
  readonly host: string
  readonly port: number
  /** PEM of the authority to trust, when it is known. */
  readonly authority: string | undefined
  /**
   * Tells clients of new connections of these PEM authorities when they are asked for a certificate. Only where some were
   * given at the start: else clients are not asked. What of the text is no certificate is passed over.
   */
  setClientAuthorities(pem: string): void
  /**
   * Stops accepting, ends streams cleanly, lets answers under way finish, closes idle connections (GOAWAY on HTTP/2), and
   * cuts off what is left after `graceMs`. Calling it again gives the same promise.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>
}
