import { wireType } from './wire-writer.ts'

/** Reads a protobuf message. Every method throws RangeError for bytes that are cut off. */
export class WireReader {
  readonly #buffer: Buffer
  at = 0

  constructor(bytes: Uint8Array) {
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** A variable-length integer of 64 bits, signed. */
  integer(): number {
    let byte = this.#byte()
    if (byte < 128) return byte
    let value = byte & 127
    // Seven bytes fit a double exactly; those after them hold the sign.
    for (let factor = 128; factor < 2 ** 49; factor *= 128) {
      byte = this.#byte()
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
    let high = 0
    for (let shift = 0; shift <= 14; shift += 7) {
      byte = this.#byte()
      high += (byte & 127) * 2 ** shift
      if (byte < 128) break
    }
    if (byte >= 128) throw new RangeError('an integer of more than 64 bits')
    const bits = BigInt(value) + (BigInt(high) << 49n)
    return Number(BigInt.asIntN(64, bits))
  }

  /** The length of a value. @returns the position after the value */
  end(): number {
    const length = this.integer()
    const end = this.at + length
    if (length < 0 || end > this.#buffer.length) throw new RangeError('a message is cut off')
    return end
  }

  text(end: number): string {
    const text = this.#buffer.toString('utf8', this.at, end)
    this.at = end
    return text
  }

  /** A copy: the message would keep the whole frame alive. */
  bytes(end: number): Uint8Array {
    const bytes = new Uint8Array(end - this.at)
    bytes.set(this.#buffer.subarray(this.at, end))
    this.at = end
    return bytes
  }

  fixed32(): number {
    return this.#buffer.readUInt32LE(this.#take(4))
  }

  /** An unsigned integer of 64 bits, rounded to a double. */
  fixed64(): number {
    const at = this.#take(8)
    return this.#buffer.readUInt32LE(at) + this.#buffer.readUInt32LE(at + 4) * 2 ** 32
  }

  double(): number {
    return this.#buffer.readDoubleLE(this.#take(8))
  }

  /** Skips a value. */
  skip(type: number): void {
    if (type === wireType.varint) this.integer()
    else if (type === wireType.fixed64) this.#take(8)
    else if (type === wireType.bytes) this.at = this.end()
    else if (type === wireType.fixed32) this.#take(4)
    else throw new RangeError(`no type ${type} of a field`)
  }

  /** Passes bytes. @returns their position */
  #take(bytes: number): number {
    const at = this.at
    if (at + bytes > this.#buffer.length) throw new RangeError('a message is cut off')
    this.at = at + bytes
    return at
  }

  #byte(): number {
    const byte = this.#buffer[this.at]
    if (byte === undefined) throw new RangeError('a message is cut off')
    this.at++
    return byte
  }
}
