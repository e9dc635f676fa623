import type { IncomingMessage, ServerResponse } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import type { StreamTask } from './listener-context.ts'
import { type PumpedStream, StreamPump, type StreamSink } from './stream-pump.ts'
import type { UpgradeSocket } from './upgrade.ts'
import type { WriteCoalescer } from './write-coalescer.ts'

/** Watches over WebSocket: one text message for each event of the stream. Clients send only pings and the closing handshake. */

/** Subprotocols that carry a bearer token, as browsers send them. Never echoed. */
const tokenProtocol = /^base64url\.bearer\.authorization\./

const createServer = () =>
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
  readonly upgrade: UpgradeSocket
  readonly body: PumpedStream
  readonly coalescer: WriteCoalescer
  /** Called when the client disconnects. */
  readonly onClose: () => void
}

/** Completes the WebSocket handshake and sends the stream. An invalid handshake gets a 400 and cancels the stream. */
export async function serveWebSocket(exchange: WebSocketExchange): Promise<StreamTask> {
  const { message, response, upgrade, body, coalescer, onClose } = exchange
  const { socket, head } = upgrade
  response.removeAllListeners('finish')
  response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0])
  const handshake = new Promise<WebSocket | undefined>((resolve) => {
    socket.once('close', () => resolve(undefined))
    createServer().handleUpgrade(message, socket, head, resolve)
  })
  const client = await handshake
  if (client === undefined) {
    onClose()
    return { run: () => cancel(body.stream), stop: () => undefined }
  }
  // The library closes clients that violate the protocol; the error needs no handling.
  client.on('error', () => undefined)
  client.once('close', onClose)
  return new StreamPump(body, { sink: new WebSocketSink(client, upgrade), coalescer })
}

async function cancel(stream: AsyncIterable<Uint8Array>): Promise<void> {
  await stream[Symbol.asyncIterator]().return?.(undefined)
}

/** Sends each line as one text message. */
class WebSocketSink implements StreamSink {
  readonly #client: WebSocket
  readonly #socket: UpgradeSocket['socket']
  #rest: Uint8Array | undefined

  constructor(client: WebSocket, { socket }: UpgradeSocket) {
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
