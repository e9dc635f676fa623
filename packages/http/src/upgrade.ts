import { type IncomingMessage, ServerResponse } from 'node:http'
import { type Duplex, PassThrough, type Readable } from 'node:stream'
import { ApiError } from '@krmkit/meta'
import type { ApiRequest, ApiResponse } from '@krmkit/protocol'
import { sanitizeHeaderValue } from './header-value.ts'
import type { StreamTask } from './listener-context.ts'

/**
 * Connections whose client requests another protocol. Node hands over the socket before the handler has decided. A response without
 * upgrade is written to that socket, which then closes.
 */

/** A socket that node has handed over. */
export interface UpgradeSocket {
  readonly socket: Duplex
  /** Bytes received after the request head. */
  readonly head: Buffer
}

/** Creates the exchange for an upgrade request. */
export function upgradeExchange(message: IncomingMessage, upgrade: UpgradeSocket) {
  const { socket } = upgrade
  const response = new ServerResponse(message)
  response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0])
  response.shouldKeepAlive = false
  response.once('finish', () => {
    response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0])
    socket.end()
  })
  socket.on('error', () => response.destroy())
  return { message, response, expectsContinue: false, upgrade }
}

/**
 * Reads the body of an upgrade request, which node leaves on the socket.
 *
 * @throws ApiError 400 without a length: only node's parser can find the end of a chunked body
 */
export function upgradeBody({ socket, head }: UpgradeSocket, length: number | undefined): Readable {
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

/** Time for one side to receive what the other side sent before closing. */
const lingerMs = 10_000

/** Responds with 101, then pipes in both directions until one side closes and the other side has received all its data. */
export function switchProtocols(
  { socket, head }: UpgradeSocket,
  to: { readonly response: ServerResponse; readonly head: ApiResponse; readonly connection: Duplex },
): StreamTask {
  const { connection, response } = to
  response.removeAllListeners('finish')
  response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0])
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      socket.destroy()
      connection.destroy()
      resolve()
    }
    const closeAfterWrites = (other: Duplex) => (): void => {
      if (other.destroyed) {
        end()
        return
      }
      const timer = setTimeout(end, lingerMs)
      other.once('close', () => clearTimeout(timer)).end(end)
    }
    socket.on('error', end).once('close', closeAfterWrites(connection))
    connection.on('error', end).once('close', closeAfterWrites(socket))
    if (socket.destroyed || connection.destroyed) return end()
    socket.write(headOf(to.head))
    if (head.length > 0) connection.write(head)
    socket.pipe(connection)
    connection.pipe(socket)
  })
  return {
    run: () => ended,
    stop() {
      socket.end()
      connection.end()
    },
  }
}

/** Encoding of the events of a watch over WebSocket: lines of JSON, or protobuf messages, each preceded by its length in four bytes. */
export type WatchEncoding = 'json' | 'protobuf'

/**
 * The encoding of the events when the response is a watch over WebSocket; undefined when the client did not request WebSocket or the
 * response is not a watch.
 */
export function webSocketEncoding(
  headers: ApiRequest['headers'],
  { status, headers: responseHeaders, body }: ApiResponse,
): WatchEncoding | undefined {
  if (String(headers['upgrade'] ?? '').toLowerCase() !== 'websocket' || status !== 200 || body.kind !== 'stream') return undefined
  const type = String(responseHeaders['content-type'] ?? '')
  if (/^application\/json(;|$)/.test(type)) return 'json'
  return /^application\/vnd\.kubernetes\.protobuf(;|$)/.test(type) ? 'protobuf' : undefined
}

function headOf({ status, headers }: ApiResponse): string {
  const lines = [`HTTP/1.1 ${status} Switching Protocols`]
  for (const [name, values] of Object.entries(headers)) {
    for (const value of typeof values === 'string' ? [values] : values) lines.push(`${name}: ${sanitizeHeaderValue(value)}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}
