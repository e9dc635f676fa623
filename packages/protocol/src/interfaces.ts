import type { Duplex } from 'node:stream'

/**
 * HTTP semantics without HTTP: requests and responses of an API server as values. Adapters convert sockets and fetch
 * requests to these values; the in-process client creates them directly.
 */

/** The remote end of a connection. */
export interface Peer {
  /** IP address of the client, for logs and audit. */
  readonly address?: string
  /**
   * DER certificates of the client, leaf first; the client has proven possession of the key. Absent or empty without a
   * client certificate.
   */
  readonly certificates?: readonly Uint8Array[]
}

/**
 * An authenticated user. Structurally equal to `UserInfo` of `@krmkit/meta`; repeated here because this package imports
 * nothing.
 */
export interface RequestUser {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

export interface ApiRequest {
  readonly method: string
  /** Raw path: percent-encoded, without the query. */
  readonly path: string
  /** Raw query string without the question mark. */
  readonly query: string
  /** Names in lower case. A repeated header is an array, in order of arrival. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Whether the host may have joined repeated headers into one, separated by a comma and a space, as fetch hosts do. */
  readonly headersJoined?: boolean | undefined
  /**
   * Reads the whole body. Call it at most once. An absent body is empty.
   *
   * @throws ApiError 413 above `limitBytes`
   */
  readonly body: (limitBytes: number) => Promise<Uint8Array>
  /** Whether the whole body has been received, so that `body` does not wait for the client. Absent: unknown. */
  readonly isBodyReceived?: boolean | undefined
  /**
   * Reads the body chunk by chunk, at the pace of the consumer and without a limit. Use either `stream` or `body`. Absent if
   * only `body` is supported.
   */
  readonly stream?: (() => AsyncIterable<Uint8Array>) | undefined
  /**
   * Whether the connection can switch to the protocol of the `upgrade` header; the response body may then be a `connection`.
   */
  readonly upgradable?: boolean | undefined
  readonly peer: Peer
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  /** Set by in-process callers that are already authenticated; the server then skips authentication. */
  readonly user?: RequestUser | undefined
  /** Set by in-process callers: receives the decision of each admission plugin on this request. */
  readonly decisions?: DecisionCallback | undefined
  /** Set by in-process callers: receives each step of the decision on this request. Absent: steps are not recorded. */
  readonly trace?: TraceCallback | undefined
  /** Set by in-process callers that belong to the server: allows access to storage versions that are not served. */
  readonly internal?: boolean | undefined
}

/**
 * Receives an `AdmissionDecision` of `@krmkit/admission`, declared as `object` because this package imports nothing. A
 * method type, whose parameter is bivariant, so that `(decision: AdmissionDecision) => void` is assignable.
 */
export type DecisionCallback = { receive(decision: object): void }['receive']

/** Receives a `TraceStep` of `@krmkit/apiserver/request-trace`, declared as `object` like the parameter of `DecisionCallback`. */
export type TraceCallback = { receive(step: object): void }['receive']

/**
 * A part of a body whose bytes are computed on demand. The same object always represents the same bytes, so adapters may
 * cache data derived from it, such as its compressed form.
 */
export interface BodyPiece {
  readonly byteLength: number
  bytes(): Uint8Array
}

/**
 * - `bytes`: the whole body.
 * - `list`: the parts of one body, in order; `length` is their total size in bytes.
 * - `stream`: chunks of unknown number, pulled one by one, so that a slow reader slows the producer. A watch also has
 *   `events`, for in-process callers that need no bytes. Read either `stream` or `events`, once. With `ready`, many streams
 *   that receive the same chunks need fewer promises.
 * - `connection`: follows status 101 on an upgradable request and carries bytes both ways until one side ends.
 */
export type ApiBody =
  | { readonly kind: 'empty' }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'list'; readonly parts: readonly (Uint8Array | BodyPiece)[]; readonly length: number }
  | {
      readonly kind: 'stream'
      readonly stream: AsyncIterable<Uint8Array>
      readonly ready?: ReadyChunks | undefined
      readonly events?: AsyncIterable<readonly SharedEvent[]>
    }
  | { readonly kind: 'connection'; readonly connection: Duplex }

/**
 * The chunks of a stream that can be taken without waiting. They follow the chunks that the iterator has returned. The
 * reader keeps one `next()` of the iterator pending, which returns all other chunks, and the end or failure of the stream.
 */
export interface ReadyChunks {
  /** Called when chunks have become ready. Until it is set, the iterator returns every chunk. */
  onReady: (() => void) | undefined
  /** Removes and returns the chunks that are ready. */
  take(): readonly Uint8Array[]
}

/** A watch event. Its object is frozen and shared with the server and all other readers. */
export interface SharedEvent {
  readonly type: string
  readonly object: object
}

export interface ApiResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: ApiBody
}

/**
 * An API server as a function from requests to responses. Every failure is a response with a Status body. A handler rejects
 * with an error whose `name` is `AbortError` to drop the request without a response: the connection closes, or the HTTP/2
 * stream is reset.
 */
export type Handler = (request: ApiRequest) => Promise<ApiResponse>
