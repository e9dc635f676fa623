import type { RequestFields } from './http2-request-fields.ts'

const headLength = 9
const headersFrame = 1
const endStreamFlag = 0x1
const endHeadersFlag = 0x4

/** `:scheme https` and `:path /` by their index in the static table, and a literal `:authority x`: the session demands them. */
const common = [0x87, 0x84, 0x01, 1, 0x78]
/** With `:method GET`. */
const get = Buffer.from([0x82, ...common])
/** With `:method HEAD`, by which the session knows that the answer has no body. */
const head = Buffer.from([0x02, 4, 0x48, 0x45, 0x41, 0x44, ...common])
const none = Buffer.alloc(0)
/** A literal that is not indexed, its name 28 of the static table: `content-length`. */
const contentLength = [0x0f, 28 - 15]

export interface StandIn {
  readonly stream: number
  readonly endsStream: boolean
  /** Undefined for trailers. */
  readonly fields: RequestFields | undefined
}

/**
 * The frame that a session gets in the place of a header block: what it needs for framing, which is whether there will be a body in the
 * answer and how long that of the request is. It changes no table.
 */
export function headersFrameOf({ stream, endsStream, fields }: StandIn): Buffer {
  const opening = fields === undefined ? none : fields.method === 'HEAD' ? head : get
  const length = fields?.wellFormed === true ? (fields.contentLength ?? '') : ''
  const declared = length === '' ? 0 : contentLength.length + 1 + length.length
  const frame = Buffer.allocUnsafe(headLength + opening.length + declared)
  const size = frame.length - headLength
  frame[0] = 0
  frame[1] = 0
  // Lengths have at most fifteen digits.
  frame[2] = size
  frame[3] = headersFrame
  frame[4] = endHeadersFlag | (endsStream ? endStreamFlag : 0)
  frame.writeUInt32BE(stream, 5)
  frame.set(opening, headLength)
  if (declared === 0) return frame
  let at = headLength + opening.length
  for (const octet of contentLength) frame[at++] = octet
  frame[at++] = length.length
  frame.write(length, at, 'latin1')
  return frame
}
