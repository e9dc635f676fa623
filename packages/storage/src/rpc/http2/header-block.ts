/**
 * Header blocks without a dynamic table: this end sends none, and asks the peer for a table of size 0. So a block means the same each
 * time, and the few that a server sends are decoded once.
 *
 * @see RFC 7541
 */
import { ProtocolError, resetCode } from './frames.ts'
import { decodeHuffman } from './huffman.ts'

export type Header = readonly [name: string, value: string]
export type Headers = ReadonlyMap<string, string>

/** RFC 7541, appendix A. */
const staticTable: readonly Header[] = [
  [':authority', ''],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
  ...['200', '204', '206', '304', '400', '404', '500'].map((status): Header => [':status', status]),
  ['accept-charset', ''],
  ['accept-encoding', 'gzip, deflate'],
  ...[
    ...['accept-language', 'accept-ranges', 'accept', 'access-control-allow-origin', 'age', 'allow', 'authorization'],
    ...['cache-control', 'content-disposition', 'content-encoding', 'content-language', 'content-length', 'content-location'],
    ...['content-range', 'content-type', 'cookie', 'date', 'etag', 'expect', 'expires', 'from', 'host', 'if-match'],
    ...['if-modified-since', 'if-none-match', 'if-range', 'if-unmodified-since', 'last-modified', 'link', 'location'],
    ...['max-forwards', 'proxy-authenticate', 'proxy-authorization', 'range', 'referer', 'refresh', 'retry-after', 'server'],
    ...['set-cookie', 'strict-transport-security', 'transfer-encoding', 'user-agent', 'vary', 'via', 'www-authenticate'],
  ].map((name): Header => [name, '']),
]

/** A block of literal fields, which no table keeps. */
export function encodeHeaders(headers: readonly Header[]): Buffer {
  const parts: Buffer[] = []
  for (const [name, value] of headers) parts.push(Buffer.of(0), encodeText(name), encodeText(value))
  return Buffer.concat(parts)
}

function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  return Buffer.concat([encodeInteger(bytes.length), bytes])
}

/** An integer after one free bit. */
function encodeInteger(value: number): Buffer {
  const limit = 127
  if (value < limit) return Buffer.of(value)
  const bytes = [limit]
  let rest = value - limit
  for (; rest >= 128; rest >>>= 7) bytes.push((rest & 127) | 128)
  return Buffer.of(...bytes, rest)
}

/** Blocks that are remembered: those of successful calls, which repeat. */
const rememberedBlocks = 16
const longestRemembered = 256

/** Decodes the header blocks of one connection. */
export class HeaderDecoder {
  readonly #known = new Map<string, Headers>()

  /** @throws ProtocolError */
  decode(block: Buffer): Headers {
    if (block.length > longestRemembered) return decodeHeaders(block)
    const text = block.toString('latin1')
    let headers = this.#known.get(text)
    if (headers === undefined) {
      headers = decodeHeaders(block)
      if (this.#known.size < rememberedBlocks) this.#known.set(text, headers)
    }
    return headers
  }
}

/** The fields of a block, by lower-case name. @throws ProtocolError for damage, and for a reference to a dynamic table */
export function decodeHeaders(block: Buffer): Headers {
  const headers = new Map<string, string>()
  const reader = new BlockReader(block)
  while (!reader.isAtEnd) {
    const kind = reader.peek()
    if (kind >= 0x80) {
      const [name, value] = staticField(reader.integer(7))
      headers.set(name, value)
    } else if (kind >= 0x20 && kind < 0x40) {
      if (reader.integer(5) !== 0) throw damage('a dynamic table was not permitted')
    } else {
      const index = reader.integer(kind >= 0x40 ? 6 : 4)
      const name = index === 0 ? reader.text() : staticField(index)[0]
      headers.set(name, reader.text())
    }
  }
  return headers
}

function staticField(index: number): Header {
  const field = staticTable[index - 1]
  if (field === undefined) throw damage(`no header field ${index}`)
  return field
}

function damage(problem: string): ProtocolError {
  return new ProtocolError(`damaged header block: ${problem}`, resetCode.compression)
}

class BlockReader {
  readonly #block: Buffer
  #at = 0

  constructor(block: Buffer) {
    this.#block = block
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#block.length
  }

  /** The next byte, which is read again. */
  peek(): number {
    const byte = this.#block[this.#at]
    if (byte === undefined) throw damage('it is cut off')
    return byte
  }

  /** An integer whose first byte has so many bits of it. */
  integer(bits: number): number {
    const limit = 2 ** bits - 1
    let value = this.peek() & limit
    this.#at++
    if (value < limit) return value
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.peek()
      this.#at++
      value += (byte & 127) * 2 ** shift
      if (byte < 128) return value
    }
    throw damage('an integer is too large')
  }

  text(): string {
    const isHuffman = this.peek() >= 0x80
    const length = this.integer(7)
    const start = this.#at
    this.#at += length
    if (this.#at > this.#block.length) throw damage('it is cut off')
    const bytes = this.#block.subarray(start, this.#at)
    if (!isHuffman) return bytes.toString('latin1')
    try {
      return decodeHuffman(bytes)
    } catch (error) {
      throw damage((error as Error).message)
    }
  }
}
