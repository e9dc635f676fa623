/** Calls over gRPC to the members of a service, such as an etcd cluster. */

import { encodeFields } from '@krmkit/base/hpack'
import type { MessageType } from '@krmkit/base/protobuf'
import type { Connection } from './http2/connection.ts'
import { messageHeadBytes } from './http2/message-reader.ts'
import type { StreamSink } from './http2/rpc-stream.ts'
import { Member } from './member.ts'
import { cancelledStatus, deadlineExceeded, RpcError, unavailableStatus, unknownStatus } from './rpc-error.ts'
import { parseTarget, type RpcTls } from './target.ts'

export type { RpcTls } from './target.ts'

/** A stream of messages to the server. */
export interface MessageStream<Request extends object> {
  write(message: Partial<Request>): void
  /** Ends the stream; its receiver is no longer called. */
  cancel(): void
}

/** Receives the stream of messages from the server. */
export interface MessageReceiver<Response extends object> {
  message(response: Response): void
  /** The end of the stream. `undefined`: the server ended it without a failure. */
  ended(failure: RpcError | undefined): void
}

export interface RpcMethod<Request extends object, Response extends object> {
  /** `/etcdserverpb.KV/Range` */
  readonly path: string
  readonly request: MessageType<Request>
  readonly response: MessageType<Response>
}

/** How long a call waits for a connection to one member before it tries the next one, where there are several. */
const nextMemberMs = 1000
/** Maximum number of attempts of a call, as long as members certainly have not processed it. */
const maxAttempts = 4
/** Maximum number of cached encoded request headers; there are few methods and timeouts. */
const maxKnownHeaders = 64
/** Maximum number of buffered messages of a download with a slow reader, in addition to those in flight. */
const maxPendingMessages = 16

export interface EndpointsOptions {
  readonly tls?: RpcTls | undefined
  /** Names a member in errors. */
  readonly what: string
  /** Whether a call to the only member fails with the first failed connection attempt, instead of waiting until its timeout. */
  readonly failsFast?: boolean
}

export class Endpoints {
  readonly #members: readonly Member[]
  readonly #what: string
  readonly #failsFast: boolean
  readonly #headers = new Map<string, Buffer>()
  #current = 0

  /** @param urls as `parseTarget` reads them */
  constructor(urls: readonly string[], { tls, what, failsFast = false }: EndpointsOptions) {
    if (urls.length === 0) throw new TypeError(`at least one endpoint of a ${what} is needed`)
    this.#what = what
    this.#failsFast = failsFast
    this.#members = urls.map((url) => new Member(parseTarget(url, tls)))
  }

  /** Number of members. */
  get count(): number {
    return this.#members.length
  }

  /**
   * Calls a method of a connected member. A call that the member has certainly not processed goes to the next connection.
   *
   * @throws RpcError; `unsent` when no member could be reached
   */
  async call<Request extends object, Response extends object>(
    method: RpcMethod<Request, Response>,
    request: Partial<Request>,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<Response> {
    const deadlineMs = performance.now() + timeoutMs
    const body = encodeMessage(method.request, request)
    for (let attempt = 1; ; attempt++) {
      const connection = this.#members[this.#current]!.connection ?? (await this.#connected(deadlineMs))
      const at = this.#current
      try {
        return await this.#unary(connection, method, { body, deadlineMs, timeoutMs, signal })
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        if (error.status === unavailableStatus || error.status === deadlineExceeded) this.#leave(at)
        const isOver = attempt === maxAttempts || signal?.aborted === true || performance.now() >= deadlineMs
        if (!error.unsent || isOver) throw error
      }
    }
  }

  /** Opens a stream in both directions to a connected member. @throws RpcError `unsent` */
  async stream<Request extends object, Response extends object>(
    method: RpcMethod<Request, Response>,
    receiver: MessageReceiver<Response>,
    timeoutMs: number,
  ): Promise<MessageStream<Request>> {
    const connection = await this.#connected(performance.now() + timeoutMs)
    const at = this.#current
    // With this header, etcd ends the stream when the member loses its leader, instead of falling behind silently.
    const headers = this.#headersOf(method.path, connection, [['hasleader', 'true']])
    const sink: StreamSink = {
      message: (bytes) => receiver.message(method.response.decode(bytes)),
      ended: (failure) => {
        if (failure !== undefined && failure.status !== cancelledStatus) this.#leave(at)
        receiver.ended(failure)
      },
    }
    const stream = connection.start(sink, { headers })
    return {
      write: (message) => connection.send(stream, encodeMessage(method.request, message), { isLast: false }),
      cancel: () => connection.cancel(stream, cancelled()),
    }
  }

  /** Calls a method that streams its response. */
  async *download<Request extends object, Response extends object>(
    method: RpcMethod<Request, Response>,
    request: Partial<Request>,
    timeoutMs: number,
  ): AsyncGenerator<Response> {
    const connection = await this.#connected(performance.now() + timeoutMs)
    const pending: Response[] = []
    let outcome: { readonly failure: RpcError | undefined } | undefined
    let wake: (() => void) | undefined
    const sink: StreamSink = {
      message: (bytes) => {
        pending.push(method.response.decode(bytes))
        wake?.()
      },
      ended: (failure) => {
        outcome = { failure }
        wake?.()
      },
      isFull: () => pending.length >= maxPendingMessages,
    }
    const headers = this.#headersOf(method.path, connection)
    const stream = connection.start(sink, { headers }, encodeMessage(method.request, request))
    try {
      for (;;) {
        const next = pending.shift()
        if (next !== undefined) {
          if (pending.length === 0) connection.resume(stream)
          yield next
        } else if (outcome === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        } else if (outcome.failure !== undefined) throw outcome.failure
        else return
      }
    } finally {
      connection.cancel(stream, cancelled())
    }
  }

  close(): void {
    for (const member of this.#members) member.close()
  }

  #unary<Request extends object, Response extends object>(
    connection: Connection,
    { path, response: type }: RpcMethod<Request, Response>,
    {
      body,
      deadlineMs,
      timeoutMs,
      signal,
    }: { body: Buffer; deadlineMs: number; timeoutMs: number; signal: AbortSignal | undefined },
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      let response: Response | undefined
      let onAbort: (() => void) | undefined
      const sink: StreamSink = {
        message: (bytes) => {
          response = type.decode(bytes)
        },
        ended: (failure) => {
          if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort)
          if (failure !== undefined) reject(failure)
          else if (response === undefined) {
            reject(new RpcError({ status: unknownStatus, message: 'the server sent no response' }))
          } else resolve(response)
        },
      }
      const headers = this.#headersOf(path, connection, [['grpc-timeout', `${Math.ceil(timeoutMs)}m`]])
      const stream = connection.start(sink, { headers, deadlineMs }, body)
      if (signal === undefined) return
      onAbort = () => connection.cancel(stream, cancelled())
      signal.addEventListener('abort', onAbort)
      if (signal.aborted) onAbort()
    })
  }

  /** Later calls go to the next member. */
  #leave(at: number): void {
    if (this.#current === at) this.#current = (at + 1) % this.#members.length
  }

  /** Waits for a connection to the current member, or to the next one that can be reached. @throws RpcError `unsent` */
  async #connected(deadlineMs: number): Promise<Connection> {
    for (;;) {
      const at = this.#current
      const member = this.#members[at]!
      const isAlone = this.count === 1
      const patienceMs = isAlone ? deadlineMs : Math.min(deadlineMs, performance.now() + nextMemberMs)
      const connection = await member.ready(patienceMs, { isPatient: isAlone && !this.#failsFast })
      if (connection !== undefined) return connection
      this.#leave(at)
      if (performance.now() >= deadlineMs || member.isClosed || (isAlone && this.#failsFast)) {
        const cause = member.lastError
        const reason = cause instanceof Error ? `: ${cause.message}` : ''
        throw new RpcError({
          status: unavailableStatus,
          message: `no ${this.#what} can be reached${reason}`,
          unsent: true,
          cause,
        })
      }
    }
  }

  /** The encoded headers of a request. */
  #headersOf(path: string, connection: Connection, more: readonly (readonly [string, string])[] = []): Buffer {
    const { scheme, authority } = connection.target
    const last = more[0]
    const key = last === undefined ? `${authority} ${path}` : `${authority} ${path} ${last[1]}`
    const known = this.#headers.get(key)
    if (known !== undefined) return known
    const headers = encodeFields([
      [':method', 'POST'],
      [':scheme', scheme],
      [':path', path],
      [':authority', authority],
      ['te', 'trailers'],
      ['content-type', 'application/grpc'],
      ['user-agent', 'grpc-krmkit'],
      ...more,
    ])
    if (this.#headers.size < maxKnownHeaders) this.#headers.set(key, headers)
    return headers
  }
}

function encodeMessage<T extends object>(type: MessageType<T>, value: Partial<T>): Buffer {
  const bytes = type.encodeAfter(messageHeadBytes, value)
  bytes.writeUInt32BE(bytes.length - messageHeadBytes, 1)
  return bytes
}

function cancelled(): RpcError {
  return new RpcError({ status: cancelledStatus, message: 'the call was cancelled' })
}
