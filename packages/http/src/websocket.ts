import type { IncomingMessage, ServerResponse } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import type { StreamTask } from './listener-context.ts'
import { type PumpedStream, StreamPump, type StreamSink } from './stream-pump.ts'
import type { UpgradeSocket, WatchEncoding } from './upgrade.ts'
import type { WriteCoalescer } from './write-coalescer.ts'

/**
 * Watches over WebSocket: one message per event, text for JSON and binary for protobuf. Clients send only pings and the closing handshake.
 */

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
  readonly encoding: WatchEncoding
  readonly coalescer: WriteCoalescer
  /** Called when the client disconnects. */
  readonly onClose: () => void
}

/**
 * Completes the WebSocket handshake and sends the stream. A client without an origin gets 403; any other invalid handshake gets 400. Both
 * cancel the stream.
 */
export async function serveWebSocket(exchange: WebSocketExchange): Promise<StreamTask> {
  const { message, response, upgrade, body, encoding, coalescer, onClose } = exchange
  const { socket, head } = upgrade
  response.removeAllListeners('finish')
  response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0])
  const refusal = refusalOf(message)
  const handshake = new Promise<WebSocket | undefined>((resolve) => {
    socket.once('close', () => resolve(undefined))
    if (refusal === undefined) createServer().handleUpgrade(message, socket, head, resolve)
    else socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  })
  const client = await handshake
  if (client === undefined) {
    onClose()
    return { run: () => cancel(body.stream), stop: () => undefined }
  }
  // The library closes clients that violate the protocol; the error needs no handling.
  client.on('error', () => undefined)
  client.once('close', onClose)
  return new StreamPump(body, { sink: new WebSocketSink(client, { upgrade, encoding }), coalescer })
}

/**
 * The status line for a handshake that kube-apiserver refuses: without an origin that is a URL, or with several subprotocols; undefined for
 * other handshakes.
 */
function refusalOf({ headers }: IncomingMessage): string | undefined {
  const { origin = '', 'sec-websocket-protocol': protocols = '' } = headers
  if (!origin.startsWith('/') && !URL.canParse(origin)) return '403 Forbidden'
  const own = protocols.split(',').filter((name) => !tokenProtocol.test(name.trim()))
  return own.length > 1 ? '400 Bad Request' : undefined
}

async function cancel(stream: AsyncIterable<Uint8Array>): Promise<void> {
  await stream[Symbol.asyncIterator]().return?.(undefined)
}

/** Sends each event as one message. */
class WebSocketSink implements StreamSink {
  readonly #client: WebSocket
  readonly #socket: UpgradeSocket['socket']
  readonly #isBinary: boolean
  #rest: Uint8Array | undefined

  constructor(client: WebSocket, { upgrade, encoding }: { readonly upgrade: UpgradeSocket; readonly encoding: WatchEncoding }) {
    this.#client = client
    this.#socket = upgrade.socket
    this.#isBinary = encoding === 'protobuf'
  }

  send(pieces: readonly Uint8Array[]): boolean {
    if (this.#client.readyState !== this.#client.OPEN) return true
    for (const piece of pieces) {
      if (this.#isBinary) this.#frames(piece)
      else this.#lines(piece)
    }
    return !this.#socket.writableNeedDrain
  }

  /** Sends complete messages, without their four-byte length prefix. */
  #frames(piece: Uint8Array): void {
    const bytes = this.#rest === undefined ? piece : Buffer.concat([this.#rest, piece])
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let from = 0
    while (bytes.length - from >= 4) {
      const end = from + 4 + view.getUint32(from)
      if (end > bytes.length) break
      this.#client.send(bytes.subarray(from + 4, end), { binary: true })
      from = end
    }
    this.#rest = from === bytes.length ? undefined : bytes.subarray(from)
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
