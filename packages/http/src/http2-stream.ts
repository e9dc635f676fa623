import { constants, type ServerHttp2Stream } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import type { ApiRequest, ApiResponse } from '@krmkit/protocol'
import type { BodyRateMonitor } from './body-rate.ts'
import { compressedHeaders, shouldCompress } from './compression.ts'
import { gzipParts } from './gzip-parts.ts'
import type { RequestHead } from './header-reader.ts'
import { isHeaderName, sanitizeHeaderValue } from './header-value.ts'
import type { ListenerContext } from './listener-context.ts'
import { peerOf } from './peer.ts'
import { emptyBody, emptyStream, readBody } from './request-body.ts'
import { headersOf, splitTarget } from './request-head.ts'
import { cancelStream, groupParts, pieceBytes, splitBytes } from './response-body.ts'
import { errorResponse, internalErrorBody, internalErrorResponse, isAbortError, sendChunks } from './responses.ts'
import { StreamPump, type StreamSink } from './stream-pump.ts'
import type { WriteCoalescer } from './write-coalescer.ts'

/** A new stream and its request head. */
export interface Http2Exchange {
  readonly stream: ServerHttp2Stream
  /** The connection below the session. */
  readonly socket: TLSSocket
  /** Undefined when the header reader has no head for the stream. */
  readonly head: RequestHead | undefined
  /** Whether the request has no body: the stream ended with its headers. */
  readonly ended: boolean
}

/** One HTTP/2 request. A class, because `signal` is created lazily: most requests never read it. */
class Http2Request implements ApiRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: ApiRequest['headers']
  readonly peer: ApiRequest['peer']
  readonly #stream: ServerHttp2Stream
  readonly #ended: boolean
  readonly #rates: BodyRateMonitor
  #abort: AbortController | undefined

  constructor(exchange: Http2Exchange, rates: BodyRateMonitor) {
    const { head } = exchange
    const { path, query } = splitTarget(head?.fields.target ?? '/')
    this.method = head?.fields.method ?? ''
    this.path = path
    this.query = query
    this.headers = headersOf(head?.list.raw ?? [])
    this.peer = peerOf(exchange.socket)
    this.#stream = exchange.stream
    this.#ended = exchange.ended
    this.#rates = rates
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = new AbortController()
      const stream = this.#stream
      this.#abort = abort
      const onClose = () => {
        if (stream.aborted || !stream.writableFinished) abort.abort()
      }
      if (stream.destroyed) onClose()
      else stream.once('close', onClose)
    }
    return this.#abort.signal
  }

  get isBodyReceived(): boolean {
    return this.#ended
  }

  body(limitBytes: number): Promise<Uint8Array> {
    const length = this.headers['content-length']
    if (this.#ended) return emptyBody()
    const contentLength = length === undefined ? undefined : Number(length)
    return readBody(this.#stream, { limitBytes, contentLength, rates: this.#rates })
  }

  stream(): AsyncIterable<Uint8Array> {
    return this.#ended ? emptyStream() : this.#stream.iterator({ destroyOnReturn: false })
  }
}

/** Serves one HTTP/2 stream. */
export async function serveHttp2(context: ListenerContext, exchange: Http2Exchange): Promise<void> {
  const { stream, head } = exchange
  const { session } = stream
  if (!exchange.ended) stream.once('finish', () => endInput(stream))
  // After a reset without an error, node waits for data that the client no longer accepts.
  stream.once('aborted', () => stream.destroy())
  // Failures of a stream are handled on `close`.
  stream.on('error', () => undefined)
  if (session === undefined) return
  const request = new Http2Request(exchange, context.bodyRates)
  let response: ApiResponse
  try {
    response = validateHead(head) ?? (await context.handle(request))
  } catch (error) {
    if (isAbortError(error)) {
      stream.destroy(new Error('the handler dropped the request'))
      return
    }
    context.reportError(error)
    response = internalErrorResponse
  }
  try {
    send(context, { request, stream, response })
  } catch (error) {
    context.reportError(error)
    if (response.body.kind === 'stream') cancelStream(response.body.stream)
    else if (response.body.kind === 'connection') response.body.connection.destroy()
    if (stream.headersSent || stream.destroyed) stream.destroy()
    else {
      stream.respond({ ':status': 500, 'content-type': 'application/json', 'content-length': internalErrorBody.length })
      stream.end(internalErrorBody)
    }
  }
  if (context.shouldSendGoaway()) session.close()
}

/** Interval of polling whether a response has been sent. */
const sentPollMs = 5

/**
 * Discards the input after the response: received data, and by a reset the data that the client would still send. A reset cancels frames of
 * the stream that node has not sent yet, and node emits `finish` before it sends the last frame, so the reset waits until all frames are
 * sent.
 */
function endInput(stream: ServerHttp2Stream): void {
  if (stream.destroyed) return
  const { localClose, remoteClose } = stream.state
  if (remoteClose === 1) stream.resume()
  else if (localClose === 0) setTimeout(() => endInput(stream), sentPollMs)
  else stream.close(constants.NGHTTP2_NO_ERROR)
}

/** Checks the head. @returns the response to an invalid one, which does not reach the handler */
function validateHead(head: RequestHead | undefined): ApiResponse | undefined {
  if (head === undefined) return errorResponse(400, 'the request headers cannot be read')
  const { list, fields } = head
  if (list.tooLarge) return errorResponse(431, 'the request headers are too large')
  if (list.invalid)
    return errorResponse(400, 'the request headers break the rules of HTTP/2, or have characters that are not allowed in them')
  return fields.method === 'CONNECT' ? errorResponse(405, 'CONNECT is not served') : undefined
}

function send(
  context: ListenerContext,
  exchange: { request: Http2Request; stream: ServerHttp2Stream; response: ApiResponse },
): void {
  const { request, stream, response } = exchange
  const { status, body } = response
  if (stream.destroyed) {
    if (body.kind === 'stream') cancelStream(body.stream)
    return
  }
  // A stream of a shared connection cannot switch protocols.
  if (body.kind === 'connection') throw new Error('an HTTP/2 stream cannot be upgraded')
  if (request.method === 'HEAD' || status === 204 || status === 304 || body.kind === 'empty') {
    const length = body.kind === 'bytes' ? body.bytes.length : body.kind === 'list' ? body.length : 0
    if (body.kind === 'stream') cancelStream(body.stream)
    const omitsLength = status === 204 || status === 304 || body.kind === 'stream'
    stream.respond(headersFor(response, response.headers, omitsLength ? -1 : length), { endStream: true })
    return
  }
  if (body.kind === 'stream') {
    stream.respond(headersFor(response, response.headers, -2))
    context.runStream(new StreamPump(body, { sink: new Http2Sink(stream, context.coalescer), coalescer: context.coalescer }))
    return
  }
  if (context.compresses && shouldCompress(request, response)) {
    stream.respond(headersFor(response, compressedHeaders(response.headers), -1))
    sendChunks(gzipParts(body.kind === 'bytes' ? [body.bytes] : body.parts, context.deflateCache), stream)
  } else if (body.kind === 'bytes') {
    stream.respond(headersFor(response, response.headers, body.bytes.length))
    if (body.bytes.length <= pieceBytes) stream.end(body.bytes)
    else sendChunks(splitBytes(body.bytes), stream)
  } else {
    stream.respond(headersFor(response, response.headers, body.length))
    sendChunks(groupParts(body.parts), stream)
  }
}

/** Connection-specific headers, which HTTP/2 forbids. */
const connectionHeaders = new Set([
  ...['connection', 'http2-settings', 'keep-alive', 'proxy-connection', 'te', 'transfer-encoding', 'upgrade'],
])

/** Headers that node sends at most once. */
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
  response: ApiResponse,
  headers: ApiResponse['headers'],
  length: number,
): Record<string, string | string[] | number> {
  const out: Record<string, string | string[] | number> = { ':status': response.status }
  for (const name in headers) {
    if (connectionHeaders.has(name) || !isHeaderName(name) || (name === 'content-length' && length === -1)) continue
    const value = headers[name]!
    if (typeof value === 'string') out[name] = sanitizeHeaderValue(value)
    else
      out[name] =
        value.length === 1 || singleHeaders.has(name) ? sanitizeHeaderValue(value[0] ?? '') : value.map(sanitizeHeaderValue)
  }
  if (length >= 0) out['content-length'] ??= length
  return out
}

class Http2Sink implements StreamSink {
  readonly #stream: ServerHttp2Stream
  readonly #coalescer: WriteCoalescer

  constructor(stream: ServerHttp2Stream, coalescer: WriteCoalescer) {
    this.#stream = stream
    this.#coalescer = coalescer
  }

  send(pieces: readonly Uint8Array[]): boolean {
    return this.#stream.destroyed || this.#stream.write(this.#coalescer.join(pieces, 'none'))
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
    this.#stream.destroy(new Error('the response was interrupted'))
  }
}
