import { isAscii } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ApiRequest, ApiResponse } from '@krmkit/protocol'
import type { BodyRateMonitor } from './body-rate.ts'
import { compressedHeaders, shouldCompress } from './compression.ts'
import { gzipParts } from './gzip-parts.ts'
import { isHeaderName, sanitizeHeaderValue } from './header-value.ts'
import { validateHttp1Head } from './http1-head.ts'
import type { ListenerContext } from './listener-context.ts'
import { peerOf } from './peer.ts'
import { emptyBody, emptyStream, type ReadBodyOptions, readBody, takeBody } from './request-body.ts'
import { headersOf, splitTarget } from './request-head.ts'
import { cancelStream, groupParts, joinParts } from './response-body.ts'
import { internalErrorBody, internalErrorResponse, isAbortError, sendChunks } from './responses.ts'
import { StreamPump, type StreamSink } from './stream-pump.ts'
import { endLastResponse, limitUnreadBody, unreadBytes } from './unread-body.ts'
import { switchProtocols, type UpgradeSocket, upgradeBody, webSocketEncoding } from './upgrade.ts'
import type { WriteCoalescer } from './write-coalescer.ts'

/** One HTTP/1.1 request. A class, because `signal` is created lazily: most requests never read it. */
class Http1Request implements ApiRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: ApiRequest['headers']
  readonly peer: ApiRequest['peer']
  readonly upgradable: boolean
  /** Whether the head announces a body: by a length above 0, or by chunked encoding. */
  readonly hasBody: boolean
  readonly #contentLength: number | undefined
  readonly #message: IncomingMessage
  readonly #response: ServerResponse
  readonly #upgrade: UpgradeSocket | undefined
  readonly #rates: BodyRateMonitor
  #expectsContinue: boolean
  #isBodyRead = false
  #abort: AbortController | undefined
  #disconnected = false

  constructor({ message, response, expectsContinue, upgrade }: Http1Exchange, rates: BodyRateMonitor) {
    const { path, query } = splitTarget(message.url ?? '/')
    this.method = message.method ?? 'GET'
    this.path = path
    this.query = query
    const headers = headersOf(message.rawHeaders)
    const length = headers['content-length']
    this.headers = headers
    this.peer = peerOf(message.socket)
    this.#contentLength = length === undefined ? undefined : Number(length)
    this.hasBody = headers['transfer-encoding'] !== undefined || Number(length ?? 0) > 0
    this.#message = message
    this.#response = response
    this.#expectsContinue = expectsContinue
    this.#upgrade = upgrade
    this.#rates = rates
    this.upgradable = upgrade !== undefined
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = new AbortController()
      const response = this.#response
      this.#abort = abort
      const onClose = () => {
        if (!response.writableFinished) abort.abort()
      }
      if (response.destroyed || this.#disconnected) onClose()
      else response.once('close', onClose)
    }
    return this.#abort.signal
  }

  /** Reports the disconnect of a client whose socket is detached from the response. */
  disconnect(): void {
    this.#disconnected = true
    this.#abort?.abort()
  }

  /** Whether reading of the body has begun. */
  get isBodyRead(): boolean {
    return this.#isBodyRead
  }

  /** Whether the request has been received completely. */
  get isComplete(): boolean {
    return this.#message.complete
  }

  /** Whether the announced body is unread and too long to be discarded, so that the connection must close. */
  get leavesLongBody(): boolean {
    return !this.#isBodyRead && (this.#contentLength ?? 0) > unreadBytes
  }

  /** Whether the client still waits for 100 Continue: its next bytes may be the body or another request. */
  get awaitsContinue(): boolean {
    return this.#expectsContinue
  }

  get isBodyReceived(): boolean {
    return !this.hasBody || this.#holdsBody()
  }

  body(limitBytes: number): Promise<Uint8Array> {
    if (!this.hasBody) return emptyBody()
    this.#isBodyRead = true
    const contentLength = this.#contentLength
    if (this.#holdsBody()) return takeBody(this.#message, limitBytes)
    if (this.#upgrade !== undefined) return readUpgradeBody(this.#upgrade, { limitBytes, contentLength, rates: this.#rates })
    if (this.#expectsContinue && !(contentLength !== undefined && contentLength > limitBytes)) {
      this.#expectsContinue = false
      this.#response.writeContinue()
    }
    return readBody(this.#message, { limitBytes, contentLength, rates: this.#rates })
  }

  stream(): AsyncIterable<Uint8Array> {
    if (!this.hasBody) return emptyStream()
    this.#isBodyRead = true
    if (this.#upgrade !== undefined) return upgradeBody(this.#upgrade, this.#contentLength)
    if (this.#expectsContinue) {
      this.#expectsContinue = false
      this.#response.writeContinue()
    }
    return this.#message.iterator({ destroyOnReturn: false })
  }

  /** Whether the message has the whole body in its buffer. */
  #holdsBody(): boolean {
    const { readableLength, complete, destroyed } = this.#message
    if (readableLength === 0 || destroyed || this.upgradable || this.#expectsContinue) return false
    return this.#contentLength === undefined ? complete : readableLength === this.#contentLength
  }
}

async function readUpgradeBody(upgrade: UpgradeSocket, options: ReadBodyOptions): Promise<Uint8Array> {
  return readBody(upgradeBody(upgrade, options.contentLength), options)
}

/** An exchange whose request head has been read. */
export interface Http1Exchange {
  readonly message: IncomingMessage
  readonly response: ServerResponse
  /** Whether the client sends its body only after 100 Continue. */
  readonly expectsContinue: boolean
  /** Set when the client requests another protocol: node has handed over the connection. */
  readonly upgrade?: UpgradeSocket
}

const failureHeaders = ['content-type', 'application/json', 'content-length', String(internalErrorBody.length)]

/**
 * Awaiting this promise lets node parse a body that arrived together with its head, because node runs microtasks after parsing a piece of a
 * body. Such a request is handled with its complete body, so reading it does not wait.
 */
const bodyParsed = Promise.resolve()

/** Serves one request. */
export async function serveHttp1(context: ListenerContext, exchange: Http1Exchange): Promise<void> {
  const { message, response, upgrade } = exchange
  // A stream that iterates over the message and is destroyed takes the socket from it.
  const { socket } = message
  const request = new Http1Request(exchange, context.bodyRates)
  settleConnection(context, socket)
  const rejection = validateHttp1Head(message, { headers: request.headers, headerBytes: context.limits.headerBytes })
  if (rejection !== undefined) context.rejected.add(socket)
  else if (request.hasBody) await bodyParsed
  let apiResponse: ApiResponse
  try {
    apiResponse = rejection ?? (await context.handle(request))
  } catch (error) {
    if (isAbortError(error)) {
      socket.destroy()
      return
    }
    context.reportError(error)
    apiResponse = internalErrorResponse
  }
  try {
    const encoding = upgrade === undefined ? undefined : webSocketEncoding(request.headers, apiResponse)
    if (upgrade !== undefined && apiResponse.body.kind === 'stream' && encoding !== undefined) {
      const { serveWebSocket } = await import('./websocket.ts')
      const { body } = apiResponse
      const onClose = () => request.disconnect()
      context.runStream(await serveWebSocket({ ...exchange, upgrade, body, encoding, coalescer: context.coalescer, onClose }))
    } else if (apiResponse.body.kind !== 'connection') {
      if (upgrade === undefined && request.hasBody && !message.complete) {
        // The reader of the body gave it up: nothing can receive the rest.
        if (message.destroyed) response.shouldKeepAlive = false
        else limitUnreadBody(message, response, request.isBodyRead)
      }
      send(context, { request, response, apiResponse })
    } else if (upgrade === undefined) throw new Error('the connection cannot be upgraded')
    else context.runStream(switchProtocols(upgrade, { response, head: apiResponse, connection: apiResponse.body.connection }))
  } catch (error) {
    context.reportError(error)
    if (apiResponse.body.kind === 'stream') cancelStream(apiResponse.body.stream)
    else if (apiResponse.body.kind === 'connection') apiResponse.body.connection.destroy()
    if (response.headersSent) response.destroy()
    else response.writeHead(500, failureHeaders).end(internalErrorBody)
  }
}

const settled = Symbol('settled')

/** Called with each complete head; the first one ends the pending state of the connection. */
function settleConnection(context: ListenerContext, socket: Socket & { [settled]?: true }): void {
  if (socket[settled] === true) return
  socket[settled] = true
  context.pending.settle(socket)
}

interface Exchange {
  readonly request: Http1Request
  readonly response: ServerResponse
  readonly apiResponse: ApiResponse
}

function send(context: ListenerContext, exchange: Exchange): void {
  const { request, response, apiResponse } = exchange
  const { status, body } = apiResponse
  if (response.destroyed) {
    if (body.kind === 'stream') cancelStream(body.stream)
    return
  }
  if (context.closing || request.awaitsContinue) response.shouldKeepAlive = false
  if (status === 204 || status === 304 || body.kind === 'empty') {
    response.writeHead(status, flatten(apiResponse.headers, status === 204 || status === 304 ? -1 : 0)).end()
    if (body.kind === 'stream') cancelStream(body.stream)
    return
  }
  if (body.kind === 'bytes' || body.kind === 'list') {
    if (context.compresses && shouldCompress(request, apiResponse)) {
      response.writeHead(status, flatten(compressedHeaders(apiResponse.headers), -1))
      sendChunks(gzipParts(body.kind === 'bytes' ? [body.bytes] : body.parts, context.deflateCache), response)
    } else if (body.kind === 'bytes') {
      sendBytes(exchange, body.bytes)
    } else if (body.length <= joinedBytes && request.method !== 'HEAD') {
      sendBytes(exchange, joinParts(body.parts, body.length))
    } else {
      response.writeHead(status, flatten(apiResponse.headers, body.length))
      if (request.method === 'HEAD') response.end()
      else sendChunks(groupParts(body.parts), response)
    }
    return
  }
  if (body.kind === 'connection') return
  response.writeHead(status, flatten(apiResponse.headers, -2))
  if (request.method === 'HEAD') {
    cancelStream(body.stream)
    response.end()
    return
  }
  response.flushHeaders()
  context.runStream(new StreamPump(body, { sink: new Http1Sink(response, context.coalescer), coalescer: context.coalescer }))
}

/** Lists up to this size are sent in one write. */
const joinedBytes = 256 * 1024

function sendBytes({ request, response, apiResponse }: Exchange, body: Uint8Array): void {
  if (request.leavesLongBody && !request.isComplete) response.shouldKeepAlive = false
  response.writeHead(apiResponse.status, flatten(apiResponse.headers, body.length))
  if (!response.shouldKeepAlive && !request.isComplete) {
    endLastResponse(response, body)
  } else if (body.length <= maxTextBytes && isAscii(body)) {
    // Node sends a string in one write with the head, but bytes in a separate write. Only ASCII, because Deno sends strings as UTF-8 over
    // TLS.
    response.end(Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1'), 'latin1')
  } else response.end(body)
}

/** Maximum size of a body that is sent as a string; copying a larger one costs more than a second write. */
const maxTextBytes = 16 * 1024

/**
 * Returns alternating names and values, which `writeHead` accepts without a copy. Adds `length` as content-length unless one is set. Length
 * -1 removes content-length, -2 keeps it.
 */
function flatten(headers: ApiResponse['headers'], length: number): string[] {
  const flat: string[] = []
  let needsLength = length >= 0
  for (const name in headers) {
    if (!isHeaderName(name)) continue
    const value = headers[name]!
    if (name === 'content-length') {
      if (length === -1) continue
      needsLength = false
    }
    if (typeof value === 'string') flat.push(name, sanitizeHeaderValue(value))
    else for (const each of value) flat.push(name, sanitizeHeaderValue(each))
  }
  if (needsLength) flat.push('content-length', String(length))
  return flat
}

/**
 * Writes framed chunks directly to the socket, so that all watchers of one turn share a buffer. Without chunked encoding (HTTP/1.0), or
 * while an earlier response still owns the socket, it writes to the response instead.
 */
class Http1Sink implements StreamSink {
  readonly #response: ServerResponse
  readonly #coalescer: WriteCoalescer

  constructor(response: ServerResponse, coalescer: WriteCoalescer) {
    this.#response = response
    this.#coalescer = coalescer
  }

  send(pieces: readonly Uint8Array[]): boolean {
    const response = this.#response
    const socket = response.socket
    if (response.destroyed) return true
    if (socket !== null && response.chunkedEncoding) return socket.write(this.#coalescer.join(pieces, 'chunk'))
    return response.write(this.#coalescer.join(pieces, 'none'))
  }

  onceDrained(fn: () => void): void {
    const socket = this.#response.socket
    const emitter = socket !== null && this.#response.chunkedEncoding ? socket : this.#response
    emitter.once('drain', fn)
  }

  onceClosed(fn: () => void): void {
    if (this.#response.destroyed) queueMicrotask(fn)
    else this.#response.once('close', fn)
  }

  end(): void {
    this.#response.end()
  }

  abort(): void {
    this.#response.destroy()
  }
}
