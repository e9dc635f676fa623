import { createHeaderField, type HeaderField } from './header-field.ts'
import { decodeHuffman, maxDecodedLength } from './huffman.ts'
import { staticTable } from './static-table.ts'

/** Size of the dynamic table unless SETTINGS change it. */
const defaultTableSize = 4096

const staticFields: readonly HeaderField[] = staticTable.map(([name, value]) => createHeaderField(name, value))
/**
 * Maximum number of entries in a dynamic table of the default size, because a field counts at least 32 octets. A power of
 * two.
 */
const slots = defaultTableSize / 32
const slotMask = slots - 1
const largestInteger = 2 ** 28

/** Receives the fields of a header block in order. */
export interface HeaderFieldSink {
  add(field: HeaderField): void
}

export interface HpackDecoderOptions {
  /**
   * The announced SETTINGS_HEADER_TABLE_SIZE, at most 4096 octets, the default. With 0, blocks do not depend on earlier
   * blocks.
   */
  readonly maxTableSize?: number
}

/**
 * Decodes the header blocks of one direction of a connection, in the order in which they arrive.
 *
 * @example
 * import { encodeFields, HpackDecoder } from '@krmkit/base/hpack'
 * const names: string[] = []
 * const block = encodeFields([[':status', '200'], ['content-type', 'application/grpc']])
 * new HpackDecoder().decode(block, { add: ({ name }) => names.push(name) }) // true
 * names // [ ':status', 'content-type' ]
 * @see RFC 7541
 */
export class HpackDecoder {
  readonly #maxTableSize: number
  /** A ring buffer: `#newest` is the index of the newest entry, older ones follow. */
  readonly #ring: (HeaderField | undefined)[] = new Array<HeaderField | undefined>(slots)
  #newest = 0
  #entries = 0
  #size = 0
  #limit: number
  #scratch = Buffer.allocUnsafeSlow(1024)
  #block: Buffer = this.#scratch
  #at = 0
  #end = 0

  constructor({ maxTableSize = defaultTableSize }: HpackDecoderOptions = {}) {
    if (maxTableSize > defaultTableSize) throw new RangeError(`a table of ${maxTableSize} octets is larger than the default`)
    this.#maxTableSize = maxTableSize
    this.#limit = maxTableSize
  }

  /**
   * Decodes one complete header block.
   *
   * @returns false for a malformed block: later blocks of the connection cannot be decoded
   */
  decode(block: Buffer, fields: HeaderFieldSink): boolean {
    this.#block = block
    this.#at = 0
    this.#end = block.length
    let updates = true
    while (this.#at < this.#end) {
      const first = block[this.#at]!
      if ((first & 0x80) !== 0) {
        const field = this.#field(this.#integer(7))
        if (field === undefined) return false
        fields.add(field)
      } else if ((first & 0xe0) === 0x20) {
        if (!updates || !this.#resize(this.#integer(5))) return false
        continue
      } else {
        const indexed = (first & 0x40) !== 0
        const field = this.#literal(this.#integer(indexed ? 6 : 4))
        if (field === undefined) return false
        fields.add(field)
        if (indexed) this.#insert(field)
      }
      updates = false
    }
    this.#block = this.#scratch
    return true
  }

  #field(index: number): HeaderField | undefined {
    if (index <= staticFields.length) return staticFields[index - 1]
    const age = index - staticFields.length - 1
    return age < this.#entries ? this.#ring[(this.#newest + age) & slotMask] : undefined
  }

  #literal(nameIndex: number): HeaderField | undefined {
    const name = nameIndex === 0 ? this.#text() : this.#field(nameIndex)?.name
    if (name === undefined) return undefined
    const value = this.#text()
    return value === undefined ? undefined : createHeaderField(name, value)
  }

  /** Reads an integer with a prefix of `bits`. @returns -1 when the integer is incomplete or too large */
  #integer(bits: number): number {
    if (this.#at >= this.#end) return -1
    const mask = (1 << bits) - 1
    let value = this.#block[this.#at++]! & mask
    if (value < mask) return value
    for (let shift = 0; this.#at < this.#end && shift <= 28; shift += 7) {
      const byte = this.#block[this.#at++]!
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value < largestInteger ? value : -1
    }
    return -1
  }

  #text(): string | undefined {
    const isHuffman = this.#at < this.#end && (this.#block[this.#at]! & 0x80) !== 0
    const length = this.#integer(7)
    const start = this.#at
    if (length < 0 || length > this.#end - start) return undefined
    this.#at = start + length
    if (!isHuffman) return this.#block.toString('latin1', start, this.#at)
    const most = maxDecodedLength(length)
    const target = most <= this.#scratch.length ? this.#scratch : Buffer.allocUnsafe(most)
    const decoded = decodeHuffman(this.#block, { start, end: this.#at, target })
    return decoded < 0 ? undefined : target.toString('latin1', 0, decoded)
  }

  #insert(field: HeaderField): void {
    this.#evict(this.#limit - field.size)
    if (field.size > this.#limit) return
    this.#newest = (this.#newest - 1) & slotMask
    this.#ring[this.#newest] = field
    this.#entries++
    this.#size += field.size
  }

  #resize(limit: number): boolean {
    if (limit < 0 || limit > this.#maxTableSize) return false
    this.#limit = limit
    this.#evict(limit)
    return true
  }

  /** Evicts the oldest entries until at most `room` octets are used. */
  #evict(room: number): void {
    while (this.#size > room && this.#entries > 0) {
      const oldest = (this.#newest + this.#entries - 1) & slotMask
      this.#size -= this.#ring[oldest]!.size
      this.#ring[oldest] = undefined
      this.#entries--
    }
  }
}
