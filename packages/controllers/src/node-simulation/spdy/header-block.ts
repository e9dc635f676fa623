import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'

/**
 * Header blocks of SPDY/3.1: a count, then names and values with their lengths, all blocks of a direction in one zlib stream.
 *
 * A block ends at a byte boundary (sync flush), so that the only state between two blocks is the window of the last 32 KiB.
 *
 * @see SPDY Protocol, Draft 3.1, section 2.6.10
 */

const windowBytes = 32_768
/** Maximum size of a decompressed block. */
const maxBlockBytes = 16_384
const zlibHeader = Buffer.from([0x78, 0x9c])
const dictionaryFlag = 0x20

/** Headers: names in lower case, values as sent; several values of a name are joined by a comma. */
export type StreamHeaders = ReadonlyMap<string, string>

/** Thrown when the other side violates the protocol. */
export class SpdyError extends Error {
  override readonly name: string = 'SpdyError'
}

/** Decodes the blocks of one direction, in order. */
export class HeaderDecoder {
  #window: Buffer | undefined

  /** @throws SpdyError */
  decode(block: Buffer): StreamHeaders {
    const compressed = this.#window === undefined ? this.#begin(block) : block
    let bytes: Buffer
    try {
      const dictionary = this.#window?.length === 0 ? undefined : this.#window
      bytes = inflateRawSync(compressed, {
        finishFlush: constants.Z_SYNC_FLUSH,
        maxOutputLength: maxBlockBytes,
        ...(dictionary === undefined ? {} : { dictionary }),
      })
    } catch (cause) {
      throw new SpdyError('malformed header block', { cause })
    }
    this.#window = Buffer.concat([this.#window ?? Buffer.alloc(0), bytes]).subarray(-windowBytes)
    return parseHeaders(bytes)
  }

  /** Reads the header of the zlib stream. @returns the rest of the first block */
  #begin(block: Buffer): Buffer {
    if (block.length < 2) throw new SpdyError('malformed header block')
    const hasDictionary = (block[1]! & dictionaryFlag) !== 0
    this.#window = hasDictionary ? headerDictionary : Buffer.alloc(0)
    return block.subarray(hasDictionary ? 6 : 2)
  }
}

/** Encodes the blocks of one direction. No block refers to an earlier block or to the dictionary. */
export class HeaderEncoder {
  #hasBegun = false

  encode(headers: Readonly<Record<string, string>>): Buffer {
    const parts = Object.entries(headers).flatMap(([name, value]) => [sized(name), sized(value)])
    const count = Buffer.alloc(4)
    count.writeUInt32BE(parts.length / 2)
    const compressed = deflateRawSync(Buffer.concat([count, ...parts]), { finishFlush: constants.Z_SYNC_FLUSH })
    const block = this.#hasBegun ? compressed : Buffer.concat([zlibHeader, compressed])
    this.#hasBegun = true
    return block
  }
}

function parseHeaders(bytes: Buffer): StreamHeaders {
  let offset = 0
  const readLength = (): number => {
    if (offset + 4 > bytes.length) throw new SpdyError('malformed header block')
    offset += 4
    return bytes.readUInt32BE(offset - 4)
  }
  const readText = (): string => {
    const length = readLength()
    if (length > bytes.length - offset) throw new SpdyError('malformed header block')
    offset += length
    return bytes.toString('utf8', offset - length, offset)
  }
  const headers = new Map<string, string>()
  for (let left = readLength(); left > 0; left--) {
    const name = readText().toLowerCase()
    headers.set(name, readText().replaceAll('\0', ','))
  }
  return headers
}

function sized(text: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(Buffer.byteLength(text))
  return Buffer.concat([length, Buffer.from(text)])
}

const requestNames = `options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow
authorization cache-control connection content-base content-encoding content-language content-length content-location content-md5
content-range content-type date etag expect expires from host if-match if-modified-since if-none-match if-range if-unmodified-since
last-modified location max-forwards pragma proxy-authenticate proxy-authorization range referer retry-after server te trailer
transfer-encoding upgrade user-agent vary via warning www-authenticate method get status`
const laterWords = ['200 OK', 'version', 'HTTP/1.1', 'url', 'public', 'set-cookie', 'keep-alive', 'origin']
const statusCodes = `100 101 201 202 205 206 300 302 303 304 305 306 307 402 405 406 407 408 409 410 411 412 413 414 415 416 417 502 504 505`
const statusTexts = [
  '203 Non-Authoritative Information',
  '204 No Content',
  '301 Moved Permanently',
  '400 Bad Request',
  '401 Unauthorized',
  '403 Forbidden',
  '404 Not Found',
  '500 Internal Server Error',
  '501 Not Implemented',
  '503 Service Unavailable',
]
const values = [
  'Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT',
  'chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,text/javascript,public',
  'privatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.',
]

/** The preset dictionary of SPDY/3: words with their lengths, then plain text. */
export const headerDictionary: Buffer = Buffer.concat([
  ...[...requestNames.split(/\s+/), ...laterWords].map(sized),
  Buffer.from([statusCodes.replaceAll(' ', ''), ...statusTexts, ...values].join('')),
])
