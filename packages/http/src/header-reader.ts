import { HpackDecoder } from './hpack/decoder.ts'
import { HeaderList } from './hpack/header-list.ts'
import { type RequestFields, readRequestFields } from './http2-request-fields.ts'
import { headersFrameOf } from './http2-stand-in.ts'

/**
 * Takes the header lists out of what a client of HTTP/2 sends, before the session that answers it sees them. The library behind node's
 * sessions drops header fields that it finds invalid and bounds their size and number, and node gives no way to see that. So header blocks
 * are decoded here, whole, and the session gets a stand-in for each: a block that opens the stream and says no more than framing needs.
 *
 *     preface (24 octets) --> frame head (9 octets) --> header block: decoded, replaced
 *                                                  \--> anything else: passed on as it is
 *
 * @see RFC 9113, 4 and 6
 */
export interface HeaderReaderLimits {
  /** Octets of a header list, with 32 for each field. Larger ones are `tooLarge`. */
  readonly listBytes: number
  /** Octets of the payload of a frame. */
  readonly frameBytes: number
  /** Octets of an encoded header block, and of all lists whose streams have not appeared. */
  readonly blockBytes: number
}

/** The head of a request, as it was sent. */
export interface RequestHead {
  readonly list: HeaderList
  readonly fields: RequestFields
}

const prefaceLength = 24
const headLength = 9
const lengthOctets = 3
const headersFrame = 1
const continuationFrame = 9
const endStreamFlag = 0x1
const endHeadersFlag = 0x4
const paddedFlag = 0x8
const priorityFlag = 0x20
/** What a field of a list costs beside its text: two references. */
const fieldCost = 16
const empty = Buffer.alloc(0)

interface Waiting {
  readonly head: RequestHead
  readonly cost: number
}

/** A frame under way whose payload is wanted. */
interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly length: number
}

/** A header block that goes on in the next frame. */
interface Block {
  readonly stream: number
  readonly flags: number
  readonly fragments: Buffer[]
  length: number
}

export class HeaderReader {
  readonly #decoder = new HpackDecoder()
  readonly #limits: HeaderReaderLimits
  readonly #waiting = new Map<number, Waiting>()
  #waitingCost = 0
  #newestStream = 0
  /** Octets that are passed on unseen: the rest of the preface or of a payload. */
  #skip = prefaceLength
  /** A frame head or wanted payload that arrives in pieces. */
  #partial: Buffer = empty
  #filled = 0
  #frame: Frame | undefined
  #block: Block | undefined
  #broken = false
  /** What the session gets of the current chunk. */
  #out: Buffer[] = []

  constructor(limits: HeaderReaderLimits) {
    this.#limits = limits
  }

  /**
   * Takes what arrived next.
   *
   * @returns what the session gets instead, maybe nothing; undefined when the client breaks the protocol or a limit: the connection must end.
   */
  read(chunk: Buffer): Buffer | undefined {
    let at = 0
    /** Where that begins which is passed on next. */
    let from = 0
    while (!this.#broken && at < chunk.length) {
      const frame = this.#frame
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, chunk.length - at)
        this.#skip -= skipped
        at += skipped
      } else if (frame === undefined && this.#filled === 0 && chunk.length - at >= headLength) {
        if (!this.#head(chunk, at)) {
          this.#pass(chunk, from, at)
          from = at + headLength
        }
        at += headLength
      } else if (frame === undefined) {
        if (this.#filled === 0) this.#pass(chunk, from, at)
        at += this.#fill(chunk, { at, wanted: headLength })
        from = at
        if (this.#filled === headLength) {
          const head = this.#filledPart()
          if (this.#head(head, 0)) this.#out.push(head)
        }
      } else {
        at += this.#readPayload(frame, chunk, at)
        from = at
      }
    }
    if (this.#broken) return undefined
    this.#pass(chunk, from, at)
    return this.#output()
  }

  /**
   * The head of a stream that the session has opened; at most once. Streams appear in the order of their numbers: heads of earlier ones,
   * which the session refused, are forgotten.
   */
  take(stream: number): RequestHead | undefined {
    for (const [id, { head, cost }] of this.#waiting) {
      if (id > stream) return undefined
      this.#waiting.delete(id)
      this.#waitingCost -= cost
      if (id === stream) return head
    }
    return undefined
  }

  #pass(chunk: Buffer, from: number, to: number): void {
    if (from < to) this.#out.push(to - from === chunk.length ? chunk : chunk.subarray(from, to))
  }

  #output(): Buffer {
    const out = this.#out
    if (out.length === 0) return empty
    this.#out = []
    return out.length === 1 ? out[0]! : Buffer.concat(out)
  }

  /** Keeps a part of a frame head or payload until the rest is there. @returns octets taken */
  #fill(chunk: Buffer, { at, wanted }: { readonly at: number; readonly wanted: number }): number {
    const taken = Math.min(wanted - this.#filled, chunk.length - at)
    if (this.#filled + taken > this.#partial.length) {
      const grown = Buffer.allocUnsafe(Math.min(wanted, Math.max(2 * this.#partial.length, this.#filled + taken)))
      this.#partial.copy(grown, 0, 0, this.#filled)
      this.#partial = grown
    }
    chunk.copy(this.#partial, this.#filled, at, at + taken)
    this.#filled += taken
    return taken
  }

  #filledPart(): Buffer {
    const whole = this.#partial
    this.#partial = empty
    this.#filled = 0
    return whole
  }

  /** Reads a frame head. @returns whether the frame is passed on as it is */
  #head(source: Buffer, at: number): boolean {
    const length = source.readUIntBE(at, lengthOctets)
    const type = source[at + lengthOctets]!
    const stream = source.readUInt32BE(at + 5) & 0x7fffffff
    const block = this.#block
    if (block === undefined ? type === continuationFrame : type !== continuationFrame || stream !== block.stream)
      this.#broken = true
    else if (type !== headersFrame && type !== continuationFrame) {
      this.#skip = length
      return true
    } else if (stream === 0 || length > this.#limits.frameBytes) this.#broken = true
    else {
      const frame = { type, flags: source[at + 4]!, stream, length }
      if (length === 0) this.#payload(frame, empty)
      else this.#frame = frame
    }
    return false
  }

  /** @returns octets taken */
  #readPayload(frame: Frame, chunk: Buffer, at: number): number {
    if (this.#filled === 0 && chunk.length - at >= frame.length) {
      this.#payload(frame, chunk.subarray(at, at + frame.length))
      return frame.length
    }
    const taken = this.#fill(chunk, { at, wanted: frame.length })
    if (this.#filled === frame.length) this.#payload(frame, this.#filledPart())
    return taken
  }

  #payload(frame: Frame, payload: Buffer): void {
    this.#frame = undefined
    const fragment = frame.type === headersFrame ? fragmentOf(frame, payload) : payload
    if (fragment === undefined) {
      this.#broken = true
      return
    }
    const ends = (frame.flags & endHeadersFlag) !== 0
    if (ends && this.#block === undefined) {
      this.#read(frame, fragment)
      return
    }
    this.#block ??= { stream: frame.stream, flags: frame.flags, fragments: [], length: 0 }
    const block = this.#block
    block.length += fragment.length
    block.fragments.push(Buffer.from(fragment))
    // Empty frames are counted too.
    if (block.length > this.#limits.blockBytes || block.fragments.length > maxFrames(this.#limits)) {
      this.#broken = true
      return
    }
    if (!ends) return
    this.#block = undefined
    this.#read(block, Buffer.concat(block.fragments))
  }

  /** Decodes a whole block and puts its stand-in into its place. */
  #read({ stream, flags }: Pick<Block, 'stream' | 'flags'>, block: Buffer): void {
    // Trailers, and what no client may send, are decoded for the sake of the table alone.
    const opens = stream > this.#newestStream && (stream & 1) === 1
    const list = new HeaderList(opens ? this.#limits.listBytes : 0)
    if (!this.#decoder.decode(block, list)) {
      this.#broken = true
      return
    }
    const endsStream = (flags & endStreamFlag) !== 0
    if (!opens) {
      this.#out.push(headersFrameOf({ stream, endsStream, fields: undefined }))
      return
    }
    this.#newestStream = stream
    const fields = readRequestFields(list.raw)
    if (!fields.wellFormed) list.invalid = true
    const cost = block.length + list.raw.length * fieldCost
    this.#waiting.set(stream, { head: { list, fields }, cost })
    this.#waitingCost += cost
    if (this.#waitingCost > this.#limits.blockBytes) this.#broken = true
    this.#out.push(headersFrameOf({ stream, endsStream, fields }))
  }
}

/** Enough for blocks in frames of half the size that every peer must take. */
function maxFrames({ blockBytes }: HeaderReaderLimits): number {
  return 8 + Math.ceil(blockBytes / 8192)
}

/** The payload of a HEADERS frame without padding and priority; undefined when these do not fit into it. */
function fragmentOf({ flags }: Frame, payload: Buffer): Buffer | undefined {
  let start = 0
  let padding = 0
  if ((flags & paddedFlag) !== 0) {
    if (payload.length === 0) return undefined
    padding = payload[0]!
    start = 1
  }
  if ((flags & priorityFlag) !== 0) start += 5
  return start + padding > payload.length ? undefined : payload.subarray(start, payload.length - padding)
}
