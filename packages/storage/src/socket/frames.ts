/**
 * The protocol between a store and its followers over a stream socket. Integers are little-endian.
 *
 *     frame    length of the rest (u32)  type (u8)  fields
 *     field    number (f64) | text (u32 length, UTF-8) | bytes (u32 length, bytes)
 *
 * A response has the id of its request, and is sent after every event up to the revision that it contains.
 */

/** Frame types that a follower sends. */
export const requestType = {
  /** id */
  revision: 1,
  /** id, revision or 0 for the newest */
  load: 2,
  /** id, the revision to start after; replaces the former subscription of the connection */
  subscribe: 3,
  /** id, expected revision, key, value */
  put: 4,
  /** id, expected revision, key */
  delete: 5,
  /** id, revision */
  compact: 6,
  /** no fields */
  unsubscribe: 7,
} as const

/** Frame types that a store sends. */
export const answerType = {
  /** id, 0 or 1 for a conflict, newest revision, oldest readable revision */
  result: 1,
  /** id, 1 if the request had no effect and will have none, message */
  failure: 2,
  /** id, revision, revision of the creation, key, value: part of a load */
  entry: 3,
  /** revision, revision of the creation, key, value: an event */
  put: 4,
  /** id, revision, revision of the creation: the event of a write of this connection */
  own: 5,
  /** revision, key: an event */
  delete: 6,
  /** revision */
  progress: 7,
  /** 1 if the events after the start are gone; ends the subscription */
  ended: 8,
} as const

export type Field = number | string | Uint8Array

const headBytes = 5
const numberBytes = 8
const lengthBytes = 4
/** Maximum length of a frame. A longer frame means damage and ends the connection. */
const maxFrameBytes = 256 * 1024 * 1024

export function encodeFrame(type: number, ...fields: readonly Field[]): Buffer {
  let length = headBytes
  for (const field of fields) {
    if (typeof field === 'number') length += numberBytes
    else length += lengthBytes + (typeof field === 'string' ? Buffer.byteLength(field) : field.byteLength)
  }
  const frame = Buffer.allocUnsafe(length)
  let at = frame.writeUInt32LE(length - lengthBytes, 0)
  at = frame.writeUInt8(type, at)
  for (const field of fields) {
    if (typeof field === 'number') at = frame.writeDoubleLE(field, at)
    else {
      const size = length - at - lengthBytes
      const written = typeof field === 'string' ? frame.write(field, at + lengthBytes, size) : field.byteLength
      if (typeof field !== 'string') frame.set(field, at + lengthBytes)
      frame.writeUInt32LE(written, at)
      at += lengthBytes + written
    }
  }
  return frame
}

/** Reads the fields of one frame in order. */
export class FrameFields {
  readonly type: number
  readonly #bytes: Buffer
  #at: number

  constructor(bytes: Buffer, start: number) {
    this.#bytes = bytes
    this.type = bytes.readUInt8(start)
    this.#at = start + 1
  }

  number(): number {
    const value = this.#bytes.readDoubleLE(this.#at)
    this.#at += numberBytes
    return value
  }

  text(): string {
    const { start, end } = this.#range()
    return this.#bytes.toString('utf8', start, end)
  }

  /** A view of the received bytes. */
  bytes(): Uint8Array {
    const { start, end } = this.#range()
    return this.#bytes.subarray(start, end)
  }

  #range(): { readonly start: number; readonly end: number } {
    const start = this.#at + lengthBytes
    const end = start + this.#bytes.readUInt32LE(this.#at)
    this.#at = end
    return { start, end }
  }
}

/** Splits received chunks into frames. */
export class FrameParser {
  #chunks: Buffer[] = []
  #length = 0
  /** Bytes that the first incomplete frame needs. */
  #needed = lengthBytes

  /** @throws Error for an invalid frame */
  push(chunk: Buffer, receive: (frame: FrameFields) => void): void {
    this.#chunks.push(chunk)
    this.#length += chunk.byteLength
    if (this.#length < this.#needed) return
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#length)
    let at = 0
    this.#needed = lengthBytes
    while (bytes.byteLength - at >= lengthBytes) {
      const size = bytes.readUInt32LE(at)
      if (size === 0 || size > maxFrameBytes) throw new Error(`a frame of ${size} bytes was received`)
      if (bytes.byteLength - at < lengthBytes + size) {
        this.#needed = lengthBytes + size
        break
      }
      receive(new FrameFields(bytes, at + lengthBytes))
      at += lengthBytes + size
    }
    this.#chunks = at === bytes.byteLength ? [] : [bytes.subarray(at)]
    this.#length = bytes.byteLength - at
  }
}
