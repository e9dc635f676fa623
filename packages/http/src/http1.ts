import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ApiRequest, ApiResponse } from '@krmkit/protocol'
import type { BodyPace } from './body-pace.ts'
import { compressedHeaders, shouldCompress } from './compression.ts'
import { type Context, carry, dropStream, failure, groups, internalFailure } from './exchange.ts'
import { gzipParts } from './gzip-parts.ts'
import { answerText, isSendable } from './header-text.ts'
import { refusalOfHead } from './http1-refusal.ts'
import { peerOf } from './peer.ts'
import { noBody, nothing, type ReadOptions, readBody } from './request-body.ts'
import { headersOf, splitTarget } from './request-head.ts'
import { type Outlet, StreamPump } from './stream-pump.ts'
import type { TurnQueue } from './turn-queue.ts'
import { boundUnreadBody } from './unread-body.ts'
import { bodyBehind, goesByMessages, goOver, type TakenOver } from './upgrade.ts'

/**
 * One request of HTTP/1.1. A class and not a literal: the signal, which most requests never look at, is made when it is
 * asked for.
 */
class Http1Request implements ApiRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: ApiRequest['headers']
  readonly peer: ApiRequest['peer']
  readonly upgradable: boolean
  readonly #message: IncomingMessage
  readonly #response: ServerResponse
  readonly #takenOver: TakenOver | undefined
  readonly #pace: BodyPace
  #waits: boolean
  #taken = false
  #abort: AbortController | undefined
  #left = false

  constructor({ message, response, waits, takenOver }: Http1Exchange, pace: BodyPace) {
    const { path, query } = splitTarget(message.url ?? '/')
    this.method = message.method ?? 'GET'
    this.path = path
    this.query = query
    this.headers = headersOf(message.rawHeaders)
    this.peer = peerOf(message.socket)
    this.#message = message
    this.#response = response
    this.#waits = waits
    this.#takenOver = takenOver
    this.#pace = pace
    this.upgradable = takenOver !== undefined
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = new AbortController()
      const response = this.#response
      this.#abort = abort
      const judge = () => {
        if (!response.writableFinished) abort.abort()
      }
      if (response.destroyed || this.#left) judge()
      else response.once('close', judge)
    }
    return this.#abort.signal
  }

  /** The client has gone from a connection that the response no longer has. */
  leave(): void {
    this.#left = true
    this.#abort?.abort()
  }

  /** The body is being read, or was. */
  get taken(): boolean {
    return this.#taken
  }

  /** The client still waits for leave to send its body: what it sends next may be that, or another request. */
  get heldBack(): boolean {
    return this.#waits
  }

  /** A length above 0, or chunks. */
  get carriesBody(): boolean {
    const { headers } = this
    return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  }

  body(limit: number): Promise<Uint8Array> {
    if (!this.carriesBody) return noBody()
    this.#taken = true
    const { headers } = this
    const declared = headers['content-length'] === undefined ? undefined : Number(headers['content-length'])
    if (this.#takenOver !== undefined) return readBehind(this.#takenOver, { limit, declared, pace: this.#pace })
    if (this.#waits && !(declared !== undefined && declared > limit)) {
      this.#waits = false
      this.#response.writeContinue()
    }
    return readBody(this.#message, { limit, declared, pace: this.#pace })
  }

  stream(): AsyncIterable<Uint8Array> {
    if (!this.carriesBody) return nothing()
    this.#taken = true
    const length = this.headers['content-length']
    if (this.#takenOver !== undefined) return bodyBehind(this.#takenOver, length === undefined ? undefined : Number(length))
    if (this.#waits) {
      this.#waits = false
      this.#response.writeContinue()
    }
    return this.#message.iterator({ destroyOnReturn: false })
  }
}

async function readBehind(takenOver: TakenOver, options: ReadOptions): Promise<Uint8Array> {
  return readBody(bodyBehind(takenOver, options.declared), options)
}

/** What is known of an exchange when its head has been read. */
export interface Http1Exchange {
  readonly message: IncomingMessage
  readonly response: ServerResponse
  /** The client holds its body back until it is told to go on. */
  readonly waits: boolean
  /** The client asks for another protocol: node has left the connection to us. */
  readonly takenOver?: TakenOver
}

const failureHeaders = ['content-type', 'application/json', 'content-length', String(internalFailure.length)]

/** Answers one request. */
export async function serveHttp1(context: Context, exchange: Http1Exchange): Promise<void> {
  const { message, response, takenOver } = exchange
  const request = new Http1Request(exchange, context.pace)
  arrived(context, message.socket)
  const refused = refusalOfHead(message, { headers: request.headers, headerBytes: context.limits.headerBytes })
  if (refused !== undefined) context.refused.add(message.socket)
  let answer: ApiResponse
  try {
    answer = refused ?? (await context.handle(request))
  } catch (error) {
    context.fault(error)
    answer = failure
  }
  try {
    if (takenOver !== undefined && answer.body.kind === 'stream' && goesByMessages(request.headers, answer)) {
      const { overWebSocket } = await import('./websocket.ts')
      const { stream } = answer.body
      const gone = () => request.leave()
      context.pump(await overWebSocket({ ...exchange, takenOver, stream, turns: context.turns, gone }))
    } else if (answer.body.kind !== 'connection') {
      if (takenOver === undefined && request.carriesBody && !message.complete) boundUnreadBody(message, response, request.taken)
      send(context, { request, response, answer })
    } else if (takenOver === undefined) throw new Error('the connection cannot go over to another protocol')
    else context.pump(goOver(takenOver, { response, answer, connection: answer.body.connection }))
  } catch (error) {
    context.fault(error)
    if (answer.body.kind === 'stream') dropStream(answer.body.stream)
    else if (answer.body.kind === 'connection') answer.body.connection.destroy()
    if (response.headersSent) response.destroy()
    else response.writeHead(500, failureHeaders).end(internalFailure)
  }
}

const settled = Symbol('settled')

/** The first whole head of a connection. */
function arrived(context: Context, socket: Socket & { [settled]?: true }): void {
  if (socket[settled] === true) return
  socket[settled] = true
  context.pending.settle(socket)
}

interface Exchange {
  readonly request: Http1Request
  readonly response: ServerResponse
  readonly answer: ApiResponse
}

function send(context: Context, exchange: Exchange): void {
  const { request, response, answer } = exchange
  const { status, body } = answer
  if (response.destroyed) {
    if (body.kind === 'stream') dropStream(body.stream)
    return
  }
  if (context.closing || request.heldBack) response.shouldKeepAlive = false
  if (status === 204 || status === 304 || body.kind === 'empty') {
    response.writeHead(status, flatten(answer.headers, status === 204 || status === 304 ? -1 : 0)).end()
    if (body.kind === 'stream') dropStream(body.stream)
    return
  }
  if (body.kind === 'bytes' || body.kind === 'list') {
    if (shouldCompress(request, answer)) {
      response.writeHead(status, flatten(compressedHeaders(answer.headers), -1))
      carry(gzipParts(body.kind === 'bytes' ? [body.bytes] : body.parts, context.deflated), response)
    } else if (body.kind === 'bytes') {
      response.writeHead(status, flatten(answer.headers, body.bytes.length)).end(body.bytes)
    } else {
      response.writeHead(status, flatten(answer.headers, body.length))
      if (request.method === 'HEAD') response.end()
      else carry(groups(body.parts), response)
    }
    return
  }
  if (body.kind === 'connection') return
  response.writeHead(status, flatten(answer.headers, -2))
  if (request.method === 'HEAD') {
    dropStream(body.stream)
    response.end()
    return
  }
  response.flushHeaders()
  context.pump(new StreamPump(body.stream, { outlet: new Http1Outlet(response, context.turns), turns: context.turns }))
}

/** Header names and values as `writeHead` takes them without a copy. `length` below 0: none is added; -1: a given one is left out. */
function flatten(headers: ApiResponse['headers'], length: number): string[] {
  const flat: string[] = []
  let needsLength = length >= 0
  for (const name in headers) {
    if (!isSendable(name)) continue
    const value = headers[name]!
    if (name === 'content-length') {
      if (length === -1) continue
      needsLength = false
    }
    if (typeof value === 'string') flat.push(name, answerText(value))
    else for (const one of value) flat.push(name, answerText(one))
  }
  if (needsLength) flat.push('content-length', String(length))
  return flat
}

/**
 * Writes chunks straight to the socket, so that all watchers of a turn share one framed buffer; falls back to the
 * response's own writing where there are no chunks (HTTP/1.0) or where an earlier answer still has the socket.
 */
class Http1Outlet implements Outlet {
  readonly #response: ServerResponse
  readonly #turns: TurnQueue

  constructor(response: ServerResponse, turns: TurnQueue) {
    this.#response = response
    this.#turns = turns
  }

  send(pieces: readonly Uint8Array[]): boolean {
    const response = this.#response
    const socket = response.socket
    if (response.destroyed) return true
    if (socket !== null && response.chunkedEncoding) return socket.write(this.#turns.join(pieces, 'chunk'))
    return response.write(this.#turns.join(pieces, 'none'))
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
