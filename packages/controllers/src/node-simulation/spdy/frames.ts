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

export type Frame =
  | { readonly kind: 'data'; readonly streamId: number; readonly flags: number; readonly payload: Buffer }
  | {
      readonly kind: 'control'
      readonly version: number
      readonly type: number
      readonly flags: number
      readonly payload: Buffer
    }

/** Bytes that have been received and do not make a whole frame yet. */
export class FrameReader {
  #chunks: Buffer[] = []
  #length = 0

  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#length += chunk.length
  }

  /** Takes the next frame; undefined while it is incomplete. */
  next(): Frame | undefined {
    const head = this.#peek(headBytes)
    if (head === undefined) return undefined
    const length = head.readUIntBE(5, 3)
    const bytes = this.#peek(headBytes + length)
    if (bytes === undefined) return undefined
    this.#chunks = [bytes.subarray(headBytes + length)]
    this.#length -= headBytes + length
    const flags = bytes[4]!
    const payload = bytes.subarray(headBytes, headBytes + length)
    if ((bytes[0]! & controlBit) === 0) return { kind: 'data', streamId: bytes.readUInt32BE(0), flags, payload }
    return { kind: 'control', version: bytes.readUInt16BE(0) & 0x7fff, type: bytes.readUInt16BE(2), flags, payload }
  }

  /** The received bytes as one, when there are enough. */
  #peek(length: number): Buffer | undefined {
    if (this.#length < length) return undefined
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)]
    return this.#chunks[0]
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

/** A payload of 32-bit numbers. */
export function numbers(...values: readonly number[]): Buffer {
  const payload = Buffer.alloc(values.length * 4)
  for (const [i, value] of values.entries()) payload.writeUInt32BE(value, i * 4)
  return payload
}
