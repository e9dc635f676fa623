import { constants, type ServerHttp2Stream } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import type { ApiRequest, ApiResponse } from '@krmkit/protocol'
import type { BodyPace } from './body-pace.ts'
import { compressedHeaders, shouldCompress } from './compression.ts'
import { type Context, carry, dropStream, failure, groups, internalFailure, refusal } from './exchange.ts'
import { gzipParts } from './gzip-parts.ts'
import type { RequestHead } from './header-reader.ts'
import { answerText, isSendable } from './header-text.ts'
import { peerOf } from './peer.ts'
import { noBody, nothing, readBody } from './request-body.ts'
import { headersOf, splitTarget } from './request-head.ts'
import { type Outlet, StreamPump } from './stream-pump.ts'
import type { TurnQueue } from './turn-queue.ts'

/** A new stream, and the head that the client sent with it. */
export interface Http2Exchange {
  readonly stream: ServerHttp2Stream
  /** The connection under the session. */
  readonly socket: TLSSocket
  /** Undefined when it was not seen. */
  readonly head: RequestHead | undefined
  /** The client sends nothing after the headers. */
  readonly ended: boolean
}

/** One request of HTTP/2; a class for the same reason as that of HTTP/1.1. */
class Http2Request implements ApiRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: ApiRequest['headers']
  readonly peer: ApiRequest['peer']
  readonly #stream: ServerHttp2Stream
  readonly #ended: boolean
  readonly #pace: BodyPace
  #abort: AbortController | undefined

  constructor(exchange: Http2Exchange, pace: BodyPace) {
    const { head } = exchange
    const { path, query } = splitTarget(head?.fields.target ?? '/')
    this.method = head?.fields.method ?? ''
    this.path = path
    this.query = query
    this.headers = headersOf(head?.list.raw ?? [])
    this.peer = peerOf(exchange.socket)
    this.#stream = exchange.stream
    this.#ended = exchange.ended
    this.#pace = pace
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = new AbortController()
      const stream = this.#stream
      this.#abort = abort
      const judge = () => {
        if (stream.aborted || !stream.writableFinished) abort.abort()
      }
      if (stream.destroyed) judge()
      else stream.once('close', judge)
    }
    return this.#abort.signal
  }

  body(limit: number): Promise<Uint8Array> {
    const length = this.headers['content-length']
    if (this.#ended) return noBody()
    const declared = length === undefined ? undefined : Number(length)
    return readBody(this.#stream, { limit, declared, pace: this.#pace })
  }

  stream(): AsyncIterable<Uint8Array> {
    return this.#ended ? nothing() : this.#stream.iterator({ destroyOnReturn: false })
  }
}

/** Answers one stream of HTTP/2. */
export async function serveHttp2(context: Context, exchange: Http2Exchange): Promise<void> {
  const { stream, head } = exchange
  const { session } = stream
  // What the client still sends after the answer is not wanted.
  if (!exchange.ended) stream.once('finish', () => stream.close(constants.NGHTTP2_NO_ERROR))
  // A broken stream ends in `close`, which is where everything here listens.
  stream.on('error', () => undefined)
  if (session === undefined) return
  const request = new Http2Request(exchange, context.pace)
  let answer: ApiResponse
  try {
    answer = refusalOf(head) ?? (await context.handle(request))
  } catch (error) {
    context.fault(error)
    answer = failure
  }
  try {
    send(context, { request, stream, answer })
  } catch (error) {
    context.fault(error)
    if (answer.body.kind === 'stream') dropStream(answer.body.stream)
    else if (answer.body.kind === 'connection') answer.body.connection.destroy()
    if (stream.headersSent || stream.destroyed) stream.destroy()
    else {
      stream.respond({ ':status': 500, 'content-type': 'application/json', 'content-length': internalFailure.length })
      stream.end(internalFailure)
    }
  }
  if (context.drawGoaway()) session.close()
}

/** The answer to a request that the handler does not see; most are none of these. */
function refusalOf(head: RequestHead | undefined): ApiResponse | undefined {
  if (head === undefined) return refusal(400, 'the request headers cannot be read')
  const { list, fields } = head
  if (list.tooLarge) return refusal(431, 'the request headers are too large')
  if (list.invalid)
    return refusal(400, 'the request headers break the rules of HTTP/2, or have characters that are not allowed in them')
  return fields.method === 'CONNECT' ? refusal(405, 'CONNECT is not served') : undefined
}

function send(context: Context, exchange: { request: Http2Request; stream: ServerHttp2Stream; answer: ApiResponse }): void {
  const { request, stream, answer } = exchange
  const { status, body } = answer
  if (stream.destroyed) {
    if (body.kind === 'stream') dropStream(body.stream)
    return
  }
  // Streams of one connection cannot go over to another protocol.
  if (body.kind === 'connection') throw new Error('the connection cannot go over to another protocol')
  if (request.method === 'HEAD' || status === 204 || status === 304 || body.kind === 'empty') {
    const length = body.kind === 'bytes' ? body.bytes.length : body.kind === 'list' ? body.length : 0
    if (body.kind === 'stream') dropStream(body.stream)
    const bare = status === 204 || status === 304 || body.kind === 'stream'
    stream.respond(headersFor(answer, answer.headers, bare ? -1 : length), { endStream: true })
    return
  }
  if (body.kind === 'stream') {
    stream.respond(headersFor(answer, answer.headers, -2))
    context.pump(new StreamPump(body.stream, { outlet: new Http2Outlet(stream, context.turns), turns: context.turns }))
    return
  }
  if (shouldCompress(request, answer)) {
    stream.respond(headersFor(answer, compressedHeaders(answer.headers), -1))
    carry(gzipParts(body.kind === 'bytes' ? [body.bytes] : body.parts, context.deflated), stream)
  } else if (body.kind === 'bytes') {
    stream.respond(headersFor(answer, answer.headers, body.bytes.length))
    stream.end(body.bytes)
  } else {
    stream.respond(headersFor(answer, answer.headers, body.length))
    carry(groups(body.parts), stream)
  }
}

/** Headers that belong to one connection only; they are errors in HTTP/2. */
const connectionHeaders = new Set([
  ...['connection', 'http2-settings', 'keep-alive', 'proxy-connection', 'te', 'transfer-encoding', 'upgrade'],
])

/** Node refuses to send more than one of these. */
const singleHeaders = new Set([
  ...['access-control-allow-credentials', 'access-control-max-age', 'access-control-request-method', 'age', 'authorization'],
  ...[
    'content-encoding',
    'content-language',
    'content-length',
    'content-location',
    'content-md5',
    'content-range',
    'content-type',
  ],
  ...['date', 'dnt', 'etag', 'expires', 'from', 'host', 'if-match', 'if-modified-since', 'if-none-match', 'if-range'],
  ...['if-unmodified-since', 'last-modified', 'location', 'max-forwards', 'proxy-authorization', 'range', 'referer'],
  ...['retry-after', 'tk', 'upgrade-insecure-requests', 'user-agent', 'x-content-type-options'],
])

function headersFor(
  answer: ApiResponse,
  headers: ApiResponse['headers'],
  length: number,
): Record<string, string | string[] | number> {
  const out: Record<string, string | string[] | number> = { ':status': answer.status }
  for (const name in headers) {
    if (connectionHeaders.has(name) || !isSendable(name) || (name === 'content-length' && length === -1)) continue
    const value = headers[name]!
    if (typeof value === 'string') out[name] = answerText(value)
    else out[name] = value.length === 1 || singleHeaders.has(name) ? answerText(value[0] ?? '') : value.map(answerText)
  }
  if (length >= 0) out['content-length'] ??= length
  return out
}

class Http2Outlet implements Outlet {
  readonly #stream: ServerHttp2Stream
  readonly #turns: TurnQueue

  constructor(stream: ServerHttp2Stream, turns: TurnQueue) {
    this.#stream = stream
    this.#turns = turns
  }

  send(pieces: readonly Uint8Array[]): boolean {
    return this.#stream.destroyed || this.#stream.write(this.#turns.join(pieces, 'none'))
  }

  onceDrained(fn: () => void): void {
    this.#stream.once('drain', fn)
  }

  onceClosed(fn: () => void): void {
    if (this.#stream.destroyed) queueMicrotask(fn)
    else this.#stream.once('close', fn)
  }

  end(): void {
    this.#stream.end()
  }

  abort(): void {
    this.#stream.destroy(new Error('the answer broke off'))
  }
}
