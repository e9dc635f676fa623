import { ByteQueue } from '../byte-queue.ts'
import { SpdyError } from './header-block.ts'

/**
 * Frames of SPDY/3.1.
 *
 *     control: | 1 | version 15 | type 16 |  flags 8 | length 24 | payload
 *     data:    | 0 | stream id 31         |  flags 8 | length 24 | payload
 */

export const frameTypes = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const

export const finFlag = 1

const version = 3
const headBytes = 8
const controlBit = 0x80
/** Maximum size of a control frame. */
const maxControlBytes = 16_384

export type Frame =
  | { readonly kind: 'data'; readonly streamId: number; readonly flags: number; readonly payload: Buffer }
  | {
      readonly kind: 'control'
      readonly version: number
      readonly type: number
      readonly flags: number
      readonly payload: Buffer
    }

/** The rest of a data frame whose header was read. */
interface PartialData {
  readonly streamId: number
  readonly flags: number
  left: number
}

/**
 * Reads frames from the chunks of a connection. Data is returned as it arrives, so that memory does not depend on the frame
 * size.
 */
export class FrameReader {
  readonly #received = new ByteQueue()
  #data: PartialData | undefined

  push(chunk: Buffer): void {
    this.#received.push(chunk)
  }

  /**
   * Returns the next control frame, or the next part of a data frame; undefined while it is incomplete. The flags of a data
   * frame are on its last part.
   *
   * @throws SpdyError for a control frame that is too large
   */
  next(): Frame | undefined {
    if (this.#data !== undefined) return this.#nextPart(this.#data)
    const head = this.#received.peek(headBytes)
    if (head === undefined) return undefined
    const flags = head[4]!
    const length = head.readUIntBE(5, 3)
    if ((head[0]! & controlBit) === 0) {
      this.#data = { streamId: head.readUInt32BE(0), flags, left: length }
      this.#received.take(headBytes)
      return this.#nextPart(this.#data)
    }
    if (length > maxControlBytes) throw new SpdyError('control frame is too large')
    const bytes = this.#received.peek(headBytes + length)
    if (bytes === undefined) return undefined
    this.#received.take(bytes.length)
    return {
      kind: 'control',
      version: bytes.readUInt16BE(0) & 0x7fff,
      type: bytes.readUInt16BE(2),
      flags,
      payload: bytes.subarray(headBytes),
    }
  }

  #nextPart(data: PartialData): Frame | undefined {
    if (data.left > 0 && this.#received.length === 0) return undefined
    const payload = this.#received.take(data.left)
    data.left -= payload.length
    if (data.left > 0) return { kind: 'data', streamId: data.streamId, flags: 0, payload }
    this.#data = undefined
    return { kind: 'data', streamId: data.streamId, flags: data.flags, payload }
  }
}

export function controlFrame(type: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(headBytes)
  head.writeUInt16BE((controlBit << 8) | version, 0)
  head.writeUInt16BE(type, 2)
  head.writeUIntBE(payload.length, 5, 3)
  return Buffer.concat([head, payload])
}

export function dataFrame(streamId: number, data: Uint8Array, flags = 0): Buffer {
  const head = Buffer.alloc(headBytes)
  head.writeUInt32BE(streamId, 0)
  head[4] = flags
  head.writeUIntBE(data.length, 5, 3)
  return Buffer.concat([head, data])
}

/** Encodes a payload of 32-bit numbers. */
export function numbers(...values: readonly number[]): Buffer {
  const payload = Buffer.alloc(values.length * 4)
  for (const [i, value] of values.entries()) payload.writeUInt32BE(value, i * 4)
  return payload
}
