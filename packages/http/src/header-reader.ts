import { HpackDecoder } from '@krmkit/base/hpack'
import { HeaderList } from './header-list.ts'
import { placeholderHeadersFrame } from './http2-placeholder.ts'
import { type RequestFields, readRequestFields } from './http2-request-fields.ts'
import type { ResetBudget } from './reset-budget.ts'

/** Limits of a `HeaderReader`. */
export interface HeaderReaderLimits {
  /** Octets of a header list, plus 32 for each field. Larger lists are `tooLarge`. */
  readonly listBytes: number
  /** Octets of the payload of a frame. */
  readonly frameBytes: number
  /** Octets of an encoded header block, and of all lists that have not been taken. */
  readonly blockBytes: number
}

/** The head of a request, unchanged. */
export interface RequestHead {
  readonly list: HeaderList
  readonly fields: RequestFields
}

const prefaceLength = 24
const headLength = 9
const lengthOctets = 3
const headersFrame = 1
const resetFrame = 3
const continuationFrame = 9
const endStreamFlag = 0x1
const endHeadersFlag = 0x4
const paddedFlag = 0x8
const priorityFlag = 0x20
/** Overhead of a field in addition to its text: two references. */
const fieldCost = 16
const empty = Buffer.alloc(0)

interface PendingHead {
  readonly head: RequestHead
  readonly cost: number
}

/** A partially received frame whose payload is needed. */
interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly length: number
}

/** A header block that continues in the next frame. */
interface Block {
  readonly stream: number
  readonly flags: number
  readonly fragments: Buffer[]
  length: number
}

/**
 * Extracts the header lists from the input of an HTTP/2 client before the session reads it. The library behind node's sessions silently
 * drops invalid header fields and limits their size and number. Therefore this class decodes header blocks completely, and passes a
 * placeholder for each to the session: a block that opens the stream and contains only what framing needs.
 *
 *     preface (24 octets) --> frame head (9 octets) --> header block: decoded, replaced
 *                                                  \--> other frames: passed on unchanged
 *
 * @see RFC 9113, 4 and 6
 */
export class HeaderReader {
  readonly #decoder = new HpackDecoder()
  readonly #limits: HeaderReaderLimits
  readonly #resets: Pick<ResetBudget, 'charge' | 'isExceeded'>
  readonly #pending = new Map<number, PendingHead>()
  #pendingCost = 0
  #newestStream = 0
  /** Octets to pass on without inspection: the rest of the preface or of a payload. */
  #skip = prefaceLength
  /** A partially received frame head or payload. */
  #partial: Buffer = empty
  #filled = 0
  #frame: Frame | undefined
  #block: Block | undefined
  #broken = false
  /** Output for the current chunk. */
  #out: Buffer[] = []

  /** @param resets charged with each reset of the client; exceeding it is a violation */
  constructor(limits: HeaderReaderLimits, resets: Pick<ResetBudget, 'charge' | 'isExceeded'>) {
    this.#limits = limits
    this.#resets = resets
  }

  /**
   * Processes the next chunk of input.
   *
   * @returns the input for the session, possibly empty; undefined when the client violates the protocol or a limit: close the connection
   */
  read(chunk: Buffer): Buffer | undefined {
    let at = 0
    /** Start of the bytes to pass on. */
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
   * Returns the head of a stream that the session has opened, once. Streams open in the order of their numbers: heads of earlier streams,
   * which the session refused, are dropped.
   */
  take(stream: number): RequestHead | undefined {
    for (const [id, { head, cost }] of this.#pending) {
      if (id > stream) return undefined
      this.#pending.delete(id)
      this.#pendingCost -= cost
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

  /** Buffers part of a frame head or payload. @returns the number of octets consumed */
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
    const complete = this.#partial
    this.#partial = empty
    this.#filled = 0
    return complete
  }

  /** Reads a frame head. @returns whether the frame is passed on unchanged */
  #head(source: Buffer, at: number): boolean {
    const length = source.readUIntBE(at, lengthOctets)
    const type = source[at + lengthOctets]!
    const stream = source.readUInt32BE(at + 5) & 0x7fffffff
    if (type === resetFrame) this.#resets.charge()
    const block = this.#block
    if (this.#resets.isExceeded) this.#broken = true
    else if (block === undefined ? type === continuationFrame : type !== continuationFrame || stream !== block.stream)
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

  /** @returns the number of octets consumed */
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
      this.#decode(frame, fragment)
      return
    }
    this.#block ??= { stream: frame.stream, flags: frame.flags, fragments: [], length: 0 }
    const block = this.#block
    block.length += fragment.length
    block.fragments.push(Buffer.from(fragment))
    // Also limits the number of empty frames.
    if (block.length > this.#limits.blockBytes || block.fragments.length > maxFrames(this.#limits)) {
      this.#broken = true
      return
    }
    if (!ends) return
    this.#block = undefined
    this.#decode(block, Buffer.concat(block.fragments))
  }

  /** Decodes a complete block and emits its placeholder. */
  #decode({ stream, flags }: Pick<Block, 'stream' | 'flags'>, block: Buffer): void {
    // Trailers and blocks of invalid streams are decoded only to keep the HPACK table in step.
    const opens = stream > this.#newestStream && (stream & 1) === 1
    const list = new HeaderList(opens ? this.#limits.listBytes : 0)
    if (!this.#decoder.decode(block, list)) {
      this.#broken = true
      return
    }
    const endsStream = (flags & endStreamFlag) !== 0
    if (!opens) {
      this.#out.push(placeholderHeadersFrame({ stream, endsStream, fields: undefined }))
      return
    }
    this.#newestStream = stream
    const fields = readRequestFields(list.raw)
    if (!fields.wellFormed) list.invalid = true
    const cost = block.length + list.raw.length * fieldCost
    this.#pending.set(stream, { head: { list, fields }, cost })
    this.#pendingCost += cost
    if (this.#pendingCost > this.#limits.blockBytes) this.#broken = true
    this.#out.push(placeholderHeadersFrame({ stream, endsStream, fields }))
  }
}

/** Allows blocks in frames of half the minimum frame size of RFC 9113. */
function maxFrames({ blockBytes }: HeaderReaderLimits): number {
  return 8 + Math.ceil(blockBytes / 8192)
}

/** Strips padding and priority from a HEADERS payload. @returns undefined when the payload is too short for them */
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
