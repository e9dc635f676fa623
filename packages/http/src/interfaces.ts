import type { Socket } from 'node:net'
import type { Clock, NamingProfile, Random } from '@krmkit/meta'
import type { Handler } from '@krmkit/protocol'

/**
 * The adapter between sockets and an `ApiServer`: one port for HTTP/1.1 and HTTP/2, with or without TLS.
 *
 * The adapter translates requests and responses, and enforces limits. The handler interprets requests and produces every response.
 */

/** An `ApiServer`, or any object with its `handle` function. */
export interface ServerLike {
  readonly handle: Handler
  /** Whether the server has no authorizer; `listen` warns about such a server. */
  readonly allowsEveryRequest?: boolean
}

/** Certificates to serve with, as PEM. */
export interface TlsFiles {
  readonly certificate: string
  readonly key: string
  /** Certificate authority for clients to trust; only returned as `Listener.authority`. */
  readonly authority?: string
  /** Certificate authorities announced to clients when a client certificate is requested. Absent: no client certificate is requested. */
  readonly clientCa?: string
}

/** A certificate that the adapter issues and stores itself. @see selfSigned */
export interface TlsSelfSigned {
  readonly directory: string
  readonly hosts: readonly string[]
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
  readonly profile: Pick<NamingProfile, 'vendor'>
  readonly clientCa?: string
}

export interface ListenLimits {
  /** Maximum size of the request line and headers, in bytes. Default 1 MiB, as in kube-apiserver. */
  readonly headerBytes: number
  /** Time limit from the first byte (or the accepted connection) to the end of the headers. Default 32 s. */
  readonly headersTimeoutMs: number
  /** Time limit from the first byte to the end of the body. Default 60 s. */
  readonly requestTimeoutMs: number
  /** Time after which an idle connection is closed. Default 90 s. */
  readonly idleTimeoutMs: number
  /** Time limit of the TLS handshake. Default 10 s. */
  readonly handshakeTimeoutMs: number
  /** Maximum number of concurrent HTTP/2 streams of one connection. Default 250. */
  readonly concurrentStreams: number
  /**
   * Window in which the average rate of a body must reach `bodyBytesPerSecond`; below it the request fails with 408. Default 10 s.
   */
  readonly bodyWindowMs: number
  /** Minimum rate of a request body, in bytes per second. Default 500. */
  readonly bodyBytesPerSecond: number
  /**
   * Maximum number of connections without a complete request head, including those in the TLS handshake. Above it, the oldest is closed.
   * Default 4096.
   */
  readonly pendingConnections: number
  /** Maximum of `pendingConnections` per remote address. Default 512. */
  readonly pendingConnectionsPerAddress: number
  /** Number of connections above which new ones are closed at once. Default: no limit. */
  readonly connections: number
}

export interface ListenOptions {
  /** Port to listen on. Default 0: a free port. */
  readonly port?: number
  /** Address to listen on. Default `127.0.0.1`. */
  readonly host?: string
  /** Path of a Unix socket, or name of a Windows pipe, to listen on instead of `host` and `port`. */
  readonly path?: string
  /** Serves connections that another process accepts, instead of listening. `host` and `port` are those of the accepting process. */
  readonly passed?: PassedConnections
  /** `false`: plain HTTP/1.1. */
  readonly tls: TlsFiles | TlsSelfSigned | false
  readonly limits?: Partial<ListenLimits>
  /** How long `close()` waits for requests in flight. Default 10 s. */
  readonly graceMs?: number
  /** Whether large responses are compressed for clients that accept it. Default true. */
  readonly compression?: boolean
  /** Probability (0 to 0.02) that a response over HTTP/2 is followed by GOAWAY, which rebalances clients between servers. */
  readonly goaway?: { readonly chance: number; readonly random: Pick<Random, 'bytes'> }
  /** Receives errors that clients do not see: a handler that threw, an interrupted stream. */
  readonly onError?: (error: unknown) => void
  /** Receives the warning about a server without an authorizer. Default: `process.emitWarning`. */
  readonly onWarning?: (message: string) => void
}

/** Connections that another process has accepted with `acceptConnections`. */
export interface PassedConnections {
  /** 48 secret bytes that all serving processes share, so that clients resume a TLS session in any of them. */
  readonly ticketKeys?: Uint8Array
  /** Called once with the function that serves a connection, which calls its second argument when the connection has closed. */
  readonly receive: (serve: (socket: Socket, onClosed: () => void) => void) => void
}

/** A server on a port. */
export interface Listener extends AsyncDisposable {
  /** `https://127.0.0.1:6443`; wildcard addresses appear as loopback. */
  readonly url: string
  readonly host: string
  readonly port: number
  /** PEM of the certificate authority that clients must trust, if known. */
  readonly authority: string | undefined
  /**
   * Replaces the PEM authorities announced in certificate requests on new connections. Has no effect without `clientCa` at the start.
   * PEM blocks other than certificates are ignored.
   */
  setClientAuthorities(pem: string): void
  /**
   * Stops accepting connections, ends streams cleanly, closes idle connections (GOAWAY over HTTP/2), waits for requests in flight, and
   * destroys the remaining connections after `graceMs`. Repeated calls return the same promise.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>
}
