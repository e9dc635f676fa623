import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { type ByteSink, ServerPipe } from './server-pipe.ts'
import {
  closeCodes,
  length16,
  length64,
  opcodes,
  WebSocketError,
  type WebSocketInput,
  WebSocketReader,
} from './web-socket-reader.ts'

/** The server side of a WebSocket over an in-process connection. */

const handshakeSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const finalBit = 0x80

export function acceptKey(key: string): string {
  return createHash('sha1')
    .update(key + handshakeSuffix)
    .digest('base64')
}

export interface WebSocketHandlers {
  readonly data: WebSocketInput['data']
  /** Called once, when the client closes or disconnects. */
  closed(): void
  /** Calls back when more can be handled. */
  whenTaken(done: () => void): void
}

/** A WebSocket on the server side; `connection` is passed on in the response. */
export class ServerWebSocket implements ByteSink {
  readonly #pipe: ServerPipe
  readonly #reader: WebSocketReader
  #isClosed = false
  readonly #handlers: WebSocketHandlers

  constructor(handlers: WebSocketHandlers) {
    this.#handlers = handlers
    this.#reader = new WebSocketReader({
      data: (part, isFirst) => {
        if (!this.#isClosed) handlers.data(part, isFirst)
      },
      control: (opcode, payload) => this.#control(opcode, payload),
    })
    this.#pipe = new ServerPipe({
      receive: (chunk) => this.#receive(chunk),
      whenTaken: (done) => handlers.whenTaken(done),
      closed: () => this.#end(),
      overrun: () => this.#abort(closeCodes.policyViolation),
    })
  }

  get connection(): Duplex {
    return this.#pipe.connection
  }

  send(data: Uint8Array): void {
    if (!this.#isClosed) this.#pipe.send(frame(opcodes.binary, data))
  }

  whenDrained(callback: () => void): void {
    this.#pipe.whenDrained(callback)
  }

  /** Sends a close frame. The connection ends when the client has replied, so that no sent data is lost. */
  close(code: number = closeCodes.normal): void {
    if (this.#isClosed) return
    const payload = Buffer.alloc(2)
    payload.writeUInt16BE(code)
    this.#pipe.send(frame(opcodes.close, payload))
    this.#end()
  }

  /** Sends a close frame and ends the connection. */
  #abort(code: number): void {
    this.close(code)
    this.#pipe.close()
  }

  #end(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#handlers.closed()
  }

  #receive(chunk: Buffer): void {
    if (this.#pipe.isEnded) return
    try {
      this.#reader.receive(chunk)
    } catch (error) {
      if (!(error instanceof WebSocketError)) throw error
      this.#abort(error.code)
    }
  }

  #control(opcode: number, payload: Buffer): void {
    if (opcode === opcodes.close) this.#abort(closeCodes.normal)
    else if (opcode === opcodes.ping) this.#pipe.send(frame(opcodes.pong, payload))
  }
}

function frame(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload
  let header: Buffer
  if (length < length16) header = Buffer.from([finalBit | opcode, length])
  else if (length < 2 ** 16) {
    header = Buffer.from([finalBit | opcode, length16, 0, 0])
    header.writeUInt16BE(length, 2)
  } else {
    header = Buffer.alloc(10)
    header[0] = finalBit | opcode
    header[1] = length64
    header.writeBigUInt64BE(BigInt(length), 2)
  }
  return Buffer.concat([header, payload])
}
