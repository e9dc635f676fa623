import { ByteQueue } from './byte-queue.ts'

/**
 * The frames that a client sends over a WebSocket. Data is passed on as it arrives, so that memory does not depend on the
 * frame size.
 */

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const
export const closeCodes = { normal: 1000, protocolError: 1002, policyViolation: 1008, tooLarge: 1009 } as const
/** The frame limit of kube-apiserver. It also applies to whole messages. */
const maxMessageBytes = 32 * 1024 * 1024
const maxControlBytes = 125
const finalBit = 0x80
const reservedBits = 0x70
const maskBit = 0x80
const maskBytes = 4
export const length16 = 126
export const length64 = 127

/** Thrown when the client violates the protocol or a limit. */
export class WebSocketError extends Error {
  override readonly name: string = 'WebSocketError'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export interface WebSocketInput {
  /** Called for each non-empty part of a message. */
  data(part: Buffer, isFirst: boolean): void
  control(opcode: number, payload: Buffer): void
}

interface FrameHead {
  readonly opcode: number
  readonly isFinal: boolean
  readonly length: number
  readonly mask: Buffer
}

/** Reads frames from the chunks of a connection. */
export class WebSocketReader {
  readonly #input: WebSocketInput
  readonly #received = new ByteQueue()
  #frame: FrameHead | undefined
  /** Number of payload bytes of the current frame that were read. */
  #read = 0
  #isInMessage = false
  /** Whether no byte of the message was passed on yet. */
  #isFirst = true
  #messageBytes = 0

  constructor(input: WebSocketInput) {
    this.#input = input
  }

  /** @throws WebSocketError */
  receive(chunk: Buffer): void {
    this.#received.push(chunk)
    for (;;) {
      this.#frame ??= this.#begin()
      if (this.#frame === undefined || !this.#payload(this.#frame)) return
      this.#frame = undefined
    }
  }

  #begin(): FrameHead | undefined {
    const head = parseHead(this.#received)
    if (head === undefined) return undefined
    this.#read = 0
    if (isControl(head.opcode)) return head
    const continues = head.opcode === opcodes.continuation
    if (continues !== this.#isInMessage) throw new WebSocketError(closeCodes.protocolError, 'unexpected fragment')
    if (!continues) {
      this.#isFirst = true
      this.#messageBytes = 0
    }
    this.#messageBytes += head.length
    if (this.#messageBytes > maxMessageBytes) throw new WebSocketError(closeCodes.tooLarge, 'message is too large')
    this.#isInMessage = !head.isFinal
    return head
  }

  /** Reads the payload bytes that have arrived. @returns whether the frame is complete */
  #payload({ opcode, length, mask }: FrameHead): boolean {
    if (isControl(opcode)) {
      if (this.#received.length < length) return false
      this.#input.control(opcode, unmasked(this.#received.take(length), mask, 0))
      return true
    }
    const part = unmasked(this.#received.take(length - this.#read), mask, this.#read)
    this.#read += part.length
    if (part.length > 0) {
      const isFirst = this.#isFirst
      this.#isFirst = false
      this.#input.data(part, isFirst)
    }
    return this.#read === length
  }
}

function isControl(opcode: number): boolean {
  return opcode >= opcodes.close
}

/**
 * Parses the header of a frame; undefined while it is incomplete. @throws WebSocketError for a frame that is invalid or too
 * large
 */
function parseHead(received: ByteQueue): FrameHead | undefined {
  const start = received.peek(2)
  if (start === undefined) return undefined
  const short = start[1]! & ~maskBit
  const opcode = start[0]! & 0x0f
  const isFinal = (start[0]! & finalBit) !== 0
  if ((start[0]! & reservedBits) !== 0 || !Object.values<number>(opcodes).includes(opcode))
    throw new WebSocketError(closeCodes.protocolError, 'unknown frame')
  if ((start[1]! & maskBit) === 0) throw new WebSocketError(closeCodes.protocolError, 'frame without a mask')
  if (isControl(opcode) && (!isFinal || short > maxControlBytes))
    throw new WebSocketError(closeCodes.protocolError, 'invalid control frame')
  const lengthBytes = short === length16 ? 2 : short === length64 ? 8 : 0
  const head = received.peek(2 + lengthBytes + maskBytes)
  if (head === undefined) return undefined
  received.take(head.length)
  const length = lengthBytes === 0 ? short : lengthBytes === 2 ? head.readUInt16BE(2) : Number(head.readBigUInt64BE(2))
  if (length > maxMessageBytes) throw new WebSocketError(closeCodes.tooLarge, 'frame is too large')
  return { opcode, isFinal, length, mask: Buffer.from(head.subarray(-maskBytes)) }
}

/** Returns an unmasked copy of a part of a payload. A copy, so that small parts do not keep the whole chunk in memory. */
function unmasked(bytes: Buffer, mask: Buffer, offset: number): Buffer {
  const copy = Buffer.from(bytes)
  for (let i = 0; i < copy.length; i++) copy[i]! ^= mask[(offset + i) & 3]!
  return copy
}

/** Splits off the first byte of each message, which is the channel. */
export function byChannel(handle: (channel: number, data: Buffer) => void): WebSocketInput['data'] {
  let channel = 0
  return (part, isFirst) => {
    if (isFirst) channel = part[0]!
    const data = isFirst ? part.subarray(1) : part
    if (data.length > 0) handle(channel, data)
  }
}
