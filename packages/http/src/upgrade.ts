import { type IncomingMessage, ServerResponse } from 'node:http'
import { type Duplex, PassThrough, type Readable } from 'node:stream'
import { ApiError } from '@krmkit/meta'
import type { ApiRequest, ApiResponse } from '@krmkit/protocol'
import type { Running } from './exchange.ts'
import { answerText } from './header-text.ts'

/**
 * Connections whose client asks for another protocol. Node hands such a connection over before anybody has decided; so ordinary
 * answers are written by a response of our own, and the connection ends with them.
 */

/** A connection that node reads no longer. */
export interface TakenOver {
  readonly socket: Duplex
  /** What came behind the head. */
  readonly head: Buffer
}

/** The exchange on a connection that was handed over. */
export function takenOverExchange(message: IncomingMessage, takenOver: TakenOver) {
  const { socket } = takenOver
  const response = new ServerResponse(message)
  response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0])
  response.shouldKeepAlive = false
  response.once('finish', () => {
    response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0])
    socket.end()
  })
  socket.on('error', () => response.destroy())
  return { message, response, waits: false, takenOver }
}

/**
 * The body of a request that asks for another protocol as well: node did not read it.
 *
 * @throws ApiError 400 without a length: of a body in chunks only node's parser knows the end.
 */
export function bodyBehind({ socket, head }: TakenOver, length: number | undefined): Readable {
  if (length === undefined) throw ApiError.badRequest('a request for another protocol cannot have a body without a length')
  const body = new PassThrough()
  let left = length
  const take = (chunk: Buffer): void => {
    const part = chunk.subarray(0, left)
    left -= part.length
    if (!body.write(part)) {
      socket.pause()
      body.once('drain', () => socket.resume())
    }
    if (left > 0) return
    socket.off('data', take)
    body.end()
  }
  socket.once('close', () => body.destroy())
  if (head.length > 0) take(head)
  if (left > 0) socket.on('data', take)
  return body
}

/** Answers with 101, then carries bytes both ways until one side ends. */
export function goOver(
  { socket, head }: TakenOver,
  to: { readonly response: ServerResponse; readonly answer: ApiResponse; readonly connection: Duplex },
): Running {
  const { answer, connection, response } = to
  response.removeAllListeners('finish')
  response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0])
  const over = new Promise<void>((resolve) => {
    const end = (): void => {
      socket.destroy()
      connection.destroy()
      resolve()
    }
    for (const side of [socket, connection]) side.on('error', end).once('close', end)
    if (socket.destroyed || connection.destroyed) return end()
    socket.write(headOf(answer))
    if (head.length > 0) connection.write(head)
    // When one side has said all, the other gets it, and then the end.
    socket.pipe(connection)
    connection.pipe(socket)
  })
  return {
    run: () => over,
    stop() {
      socket.end()
      connection.end()
    },
  }
}

/** Whether an answer can go to its client event by event: WebSocket was asked for, and the answer is a stream of JSON documents. */
export function goesByMessages(headers: ApiRequest['headers'], { status, headers: answered, body }: ApiResponse): boolean {
  if (String(headers['upgrade'] ?? '').toLowerCase() !== 'websocket') return false
  return status === 200 && body.kind === 'stream' && /^application\/json(;|$)/.test(String(answered['content-type'] ?? ''))
}

function headOf({ status, headers }: ApiResponse): string {
  const lines = [`HTTP/1.1 ${status} Switching Protocols`]
  for (const [name, values] of Object.entries(headers)) {
    for (const value of typeof values === 'string' ? [values] : values) lines.push(`${name}: ${answerText(value)}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}
