import type { Duplex } from 'node:stream'
import type { DecisionSink } from '@krmkit/admission'
import type { UserInfo } from '@krmkit/meta'

/**
 * HTTP semantics without HTTP. Adapters translate sockets or fetch requests into these values; the in-process
 * client makes them directly.
 */

export interface Peer {
  /** Address of the client, for logs and audit. */
  readonly address?: string
  /** DER certificates the client proved to own, leaf first. Empty when there are none. */
  readonly certificates?: readonly Uint8Array[]
}

export interface ApiRequest {
  readonly method: string
  /** Raw path as on the wire: still percent-encoded, no query. */
  readonly path: string
  /** Raw query string without the question mark. */
  readonly query: string
  /** Names in lower case; repeated headers joined in order of arrival as separate values. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Repeated headers may have been joined into one, separated by a comma and a space: hosts of fetch do that. */
  readonly headersJoined?: boolean | undefined
  /**
   * Reads the whole body; rejects with an ApiError 413 above `limitBytes`. Called at most once. An absent body is empty.
   */
  readonly body: (limitBytes: number) => Promise<Uint8Array>
  /**
   * The body piece by piece, instead of `body`: of any length, and read only as fast as it is taken. Absent: there is `body` alone.
   */
  readonly stream?: (() => AsyncIterable<Uint8Array>) | undefined
  /** The connection can go over to the protocol that the header `upgrade` names: the answer's body may be a `connection`. */
  readonly upgradable?: boolean | undefined
  readonly peer: Peer
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal
  /** Set by callers in the same process that have authenticated already. */
  readonly user?: UserInfo | undefined
  /** Hears what each admission plugin decided about the request; set by callers in the same process that want to know. */
  readonly decisions?: DecisionSink | undefined
}

/**
 * A stretch of a body whose bytes are made when somebody needs them. The same piece stands for the same bytes always, so
 * that adapters may keep what they made of it, such as its compressed form.
 */
export interface BodyPiece {
  readonly byteLength: number
  bytes(): Uint8Array
}

/**
 * `bytes`: the whole body; `list`: pieces of one body, sent in order; `stream`: pieces as they come,
 * pulled one by one, so that a slow reader slows the producer. The stream of a watch can be read as `events` instead, by
 * callers in the same process that need no bytes: one of the two, once. `connection`: what follows a 101 to an upgradable request,
 * bytes both ways until one side ends.
 */
export type ApiBody =
  | { readonly kind: 'empty' }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'list'; readonly parts: readonly (Uint8Array | BodyPiece)[]; readonly length: number }
  | {
      readonly kind: 'stream'
      readonly stream: AsyncIterable<Uint8Array>
      readonly events?: AsyncIterable<readonly SharedEvent[]>
    }
  | { readonly kind: 'connection'; readonly connection: Duplex }

/** An event of a watch. The object is frozen and shared with the server and everybody else who reads it. */
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

/** The whole server as a function: never throws, every failure is a Status answer. */
export type Handler = (request: ApiRequest) => Promise<ApiResponse>

/** A running server, whatever carries its requests. */
export interface ApiServer extends AsyncDisposable {
  readonly handle: Handler
  /** Ends watches cleanly, refuses new requests, waits for those in flight, closes storage. */
  close(): Promise<void>
}
