import type { RequestFields } from './http2-request-fields.ts'

const headLength = 9
const headersFrame = 1
const endStreamFlag = 0x1
const endHeadersFlag = 0x4

/** `:scheme https` and `:path /` by static table index, and a literal `:authority x`: required by the session. */
const common = [0x87, 0x84, 0x01, 1, 0x78]
/** The block with `:method GET`. */
const get = Buffer.from([0x82, ...common])
/** The block with `:method HEAD`, so that the session sends no response body. */
const head = Buffer.from([0x02, 4, 0x48, 0x45, 0x41, 0x44, ...common])
const none = Buffer.alloc(0)
/** A literal without indexing, whose name is entry 28 of the static table: `content-length`. */
const contentLength = [0x0f, 28 - 15]

export interface PlaceholderOptions {
  readonly stream: number
  readonly endsStream: boolean
  /** Undefined for trailers. */
  readonly fields: RequestFields | undefined
}

/**
 * The HEADERS frame that replaces a header block. The frame contains only what the session needs for framing: whether the response has a
 * body, and the length of the request body. It does not change the HPACK table.
 */
export function placeholderHeadersFrame({ stream, endsStream, fields }: PlaceholderOptions): Buffer {
  const opening = fields === undefined ? none : fields.method === 'HEAD' ? head : get
  const length = fields?.wellFormed === true ? (fields.contentLength ?? '') : ''
  const lengthField = length === '' ? 0 : contentLength.length + 1 + length.length
  const frame = Buffer.allocUnsafe(headLength + opening.length + lengthField)
  const size = frame.length - headLength
  frame[0] = 0
  frame[1] = 0
  // Lengths have at most fifteen digits.
  frame[2] = size
  frame[3] = headersFrame
  frame[4] = endHeadersFlag | (endsStream ? endStreamFlag : 0)
  frame.writeUInt32BE(stream, 5)
  frame.set(opening, headLength)
  if (lengthField === 0) return frame
  let at = headLength + opening.length
  for (const octet of contentLength) frame[at++] = octet
  frame[at++] = length.length
  frame.write(length, at, 'latin1')
  return frame
}
