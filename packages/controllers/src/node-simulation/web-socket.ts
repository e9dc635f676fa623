import { createHash } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { type ByteSink, ServerPipe } from './server-pipe.ts'

/** The server side of a WebSocket over an in-process connection. */

const handshakeSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const
const normalClosure = 1000

export function acceptKey(key: string): string {
  return createHash('sha1')
    .update(key + handshakeSuffix)
    .digest('base64')
}

export interface WebSocketHandlers {
  message(data: Buffer): void
  /** Called once, when the client closes or disconnects. */
  closed(): void
  /** Calls back when more messages can be handled. Absent: at once. */
  whenTaken?(done: () => void): void
}

/** The connection that the response carries, and what the server sends through it. */
export class ServerWebSocket implements ByteSink {
  readonly #pipe: ServerPipe
  #received: Buffer = Buffer.alloc(0)
  #fragments: Buffer[] = []
  #isClosed = false
  readonly #handlers: WebSocketHandlers

  constructor(handlers: WebSocketHandlers) {
    this.#handlers = handlers
    this.#pipe = new ServerPipe({
      receive: (chunk) => this.#receive(chunk),
      whenTaken: (done) => (handlers.whenTaken === undefined ? done() : handlers.whenTaken(done)),
      closed: () => this.#end(),
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

  /** Sends a close frame. The connection ends when the client has answered it: nothing that was sent before is lost. */
  close(): void {
    if (this.#isClosed) return
    const code = Buffer.alloc(2)
    code.writeUInt16BE(normalClosure)
    this.#pipe.send(frame(opcodes.close, code))
    this.#end()
  }

  #end(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#handlers.closed()
  }

  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk])
    for (let parsed = parseFrame(this.#received); parsed !== undefined; parsed = parseFrame(this.#received)) {
      this.#received = this.#received.subarray(parsed.length)
      this.#handle(parsed)
    }
  }

  #handle({ opcode, payload, isFinal }: Frame): void {
    if (opcode === opcodes.close) {
      this.close()
      this.#pipe.close()
      return
    }
    if (opcode === opcodes.ping) {
      this.#pipe.send(frame(opcodes.pong, payload))
      return
    }
    if (opcode === opcodes.pong) return
    this.#fragments.push(payload)
    if (!isFinal) return
    const data = Buffer.concat(this.#fragments)
    this.#fragments = []
    this.#handlers.message(data)
  }
}

interface Frame {
  readonly opcode: number
  readonly payload: Buffer
  readonly isFinal: boolean
  /** Bytes of the frame with its header. */
  readonly length: number
}

const finalBit = 0x80
const maskBit = 0x80
const length16 = 126
const length64 = 127

/** Returns the first frame; undefined while it is incomplete. */
function parseFrame(bytes: Buffer): Frame | undefined {
  if (bytes.length < 2) return undefined
  const isMasked = (bytes[1]! & maskBit) !== 0
  let length = bytes[1]! & ~maskBit
  let offset = 2
  if (length === length16) {
    if (bytes.length < 4) return undefined
    length = bytes.readUInt16BE(2)
    offset = 4
  } else if (length === length64) {
    if (bytes.length < 10) return undefined
    length = Number(bytes.readBigUInt64BE(2))
    offset = 10
  }
  const start = offset + (isMasked ? 4 : 0)
  if (bytes.length < start + length) return undefined
  const payload = Buffer.from(bytes.subarray(start, start + length))
  if (isMasked) for (let i = 0; i < length; i++) payload[i]! ^= bytes[offset + (i & 3)]!
  return { opcode: bytes[0]! & 0x0f, isFinal: (bytes[0]! & finalBit) !== 0, payload, length: start + length }
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
