/** How the value of a field is encoded. */
export const wireType = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const

const firstBytes = 16 * 1024
/** Up to this length, a loop is faster than a call of the engine; the length takes one byte. */
const shortLength = 64
/** A larger buffer is not kept. */
const keptBytes = 1024 * 1024

/** Writes a protobuf message from its end to its start, so that the length of a part is known when it is written. */
export class WireWriter {
  #buffer = Buffer.allocUnsafeSlow(firstBytes)
  #at = firstBytes

  /** Bytes written so far. */
  get length(): number {
    return this.#buffer.length - this.#at
  }

  bytes(bytes: Uint8Array): void {
    const { length } = bytes
    this.#reserve(length)
    this.#at -= length
    if (length > shortLength) this.#buffer.set(bytes, this.#at)
    else for (let at = 0; at < length; at++) this.#buffer[this.#at + at] = bytes[at]!
  }

  /** A text in UTF-8, after its length. */
  text(text: string): void {
    if (text.length <= shortLength && this.#shortAscii(text)) return
    const size = Buffer.byteLength(text)
    this.#reserve(size)
    this.#at -= size
    this.#buffer.write(text, this.#at, size)
    this.integer(size)
  }

  /** A variable-length integer; one below 0 takes ten bytes. */
  integer(value: number): void {
    if (value < 0) this.#negative(value)
    else this.#positive(value)
  }

  fixed32(value: number): void {
    this.#reserve(4)
    this.#at = this.#buffer.writeUInt32LE(value, this.#at - 4) - 4
  }

  /** An unsigned integer of 64 bits, as exact as the number. */
  fixed64(value: number): void {
    const high = Math.floor(value / 2 ** 32)
    this.fixed32(high)
    this.fixed32(value - high * 2 ** 32)
  }

  double(value: number): void {
    this.#reserve(8)
    this.#at = this.#buffer.writeDoubleLE(value, this.#at - 8) - 8
  }

  /** A copy of what was written, after so many zero bytes. */
  result(headBytes: number): Buffer {
    const copy = Buffer.allocUnsafe(headBytes + this.length)
    copy.fill(0, 0, headBytes)
    copy.set(this.#buffer.subarray(this.#at), headBytes)
    return copy
  }

  clear(): void {
    if (this.#buffer.length > keptBytes) this.#buffer = Buffer.allocUnsafeSlow(firstBytes)
    this.#at = this.#buffer.length
  }

  /** @returns false, and writes nothing, for other characters */
  #shortAscii(text: string): boolean {
    const { length } = text
    this.#reserve(length + 1)
    const start = this.#at - length
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(at)
      if (code >= 128) return false
      this.#buffer[start + at] = code
    }
    this.#buffer[start - 1] = length
    this.#at = start - 1
    return true
  }

  #positive(value: number): void {
    if (value < 128) {
      this.#reserve(1)
      this.#buffer[--this.#at] = value
      return
    }
    let size = 1
    for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size++
    this.#reserve(size)
    this.#at -= size
    let rest = value
    for (let at = this.#at; at < this.#at + size - 1; at++) {
      this.#buffer[at] = (rest % 128) | 128
      rest = Math.floor(rest / 128)
    }
    this.#buffer[this.#at + size - 1] = rest
  }

  #negative(value: number): void {
    const bytes = Buffer.alloc(10, 0x80)
    let rest = BigInt.asUintN(64, BigInt(value))
    for (let at = 0; at < 9; at++, rest >>= 7n) bytes[at]! |= Number(rest & 127n)
    bytes[9] = Number(rest)
    this.bytes(bytes)
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#at) return
    const { length } = this
    const larger = Buffer.allocUnsafeSlow(2 * this.#buffer.length + bytes)
    larger.set(this.#buffer.subarray(this.#at), larger.length - length)
    this.#buffer = larger
    this.#at = larger.length - length
  }
}
