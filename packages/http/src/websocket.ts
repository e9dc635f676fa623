import type { IncomingMessage, ServerResponse } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Running } from './exchange.ts'
import { type Outlet, StreamPump } from './stream-pump.ts'
import type { TurnQueue } from './turn-queue.ts'
import type { TakenOver } from './upgrade.ts'

/**
 * Watches over WebSocket: the events of the stream that a plain watch would answer with, each a message of its own. Clients say
 * nothing but that they are there, and when they go.
 */

/** Tokens that browsers carry among the protocols: never told back. */
const tokenProtocol = /^base64url\.bearer\.authorization\./

const server = () =>
  new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: 4096,
    handleProtocols: (protocols) => [...protocols].find((name) => !tokenProtocol.test(name)) ?? false,
  })

export interface WebSocketExchange {
  readonly message: IncomingMessage
  readonly response: ServerResponse
  readonly takenOver: TakenOver
  readonly stream: AsyncIterable<Uint8Array>
  readonly turns: TurnQueue
  /** Called when the client has gone. */
  readonly gone: () => void
}

/** Agrees on WebSocket and runs the stream over it. A client that asks wrongly is answered with 400, and the stream let go. */
export async function overWebSocket(exchange: WebSocketExchange): Promise<Running> {
  const { message, response, takenOver, stream, turns, gone } = exchange
  const { socket, head } = takenOver
  response.removeAllListeners('finish')
  response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0])
  const agreed = new Promise<WebSocket | undefined>((resolve) => {
    socket.once('close', () => resolve(undefined))
    server().handleUpgrade(message, socket, head, resolve)
  })
  const client = await agreed
  if (client === undefined) {
    gone()
    return { run: () => dropped(stream), stop: () => undefined }
  }
  // A client that breaks the protocol is closed by the library, which tells of it here too.
  client.on('error', () => undefined)
  client.once('close', gone)
  return new StreamPump(stream, { outlet: new MessageOutlet(client, takenOver), turns })
}

async function dropped(stream: AsyncIterable<Uint8Array>): Promise<void> {
  await stream[Symbol.asyncIterator]().return?.(undefined)
}

/** Each line a message. */
class MessageOutlet implements Outlet {
  readonly #client: WebSocket
  readonly #socket: TakenOver['socket']
  #rest: Uint8Array | undefined

  constructor(client: WebSocket, { socket }: TakenOver) {
    this.#client = client
    this.#socket = socket
  }

  send(pieces: readonly Uint8Array[]): boolean {
    if (this.#client.readyState !== this.#client.OPEN) return true
    for (const piece of pieces) this.#lines(piece)
    return !this.#socket.writableNeedDrain
  }

  #lines(piece: Uint8Array): void {
    let from = 0
    for (let end = piece.indexOf(0x0a); end >= 0; end = piece.indexOf(0x0a, from)) {
      this.#message(piece.subarray(from, end + 1))
      from = end + 1
    }
    if (from === piece.length) return
    const left = piece.subarray(from)
    this.#rest = this.#rest === undefined ? left : Buffer.concat([this.#rest, left])
  }

  #message(end: Uint8Array): void {
    const line = this.#rest === undefined ? end : Buffer.concat([this.#rest, end])
    this.#rest = undefined
    this.#client.send(line, { binary: false })
  }

  onceDrained(fn: () => void): void {
    this.#socket.once('drain', fn)
  }

  onceClosed(fn: () => void): void {
    if (this.#client.readyState === this.#client.CLOSED) queueMicrotask(fn)
    else this.#client.once('close', fn)
  }

  end(): void {
    this.#client.close(1000)
  }

  abort(): void {
    this.#client.terminate()
  }
}
