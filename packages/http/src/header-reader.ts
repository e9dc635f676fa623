import { HpackDecoder } from './hpack/decoder.ts'
import { HeaderList } from './hpack/header-list.ts'

/**
 * Reads the header lists out of what a client of HTTP/2 sends, beside the session that answers it. The library behind node's sessions drops
 * header fields that it finds invalid, and nothing tells of it; what is read here is whole.
 *
 *     preface (24 octets) --> frame head (9 octets) --> header block | anything else, skipped by its length
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

const prefaceLength = 24
const headLength = 9
const lengthOctets = 3
const headersFrame = 1
const continuationFrame = 9
const endHeadersFlag = 0x4
const paddedFlag = 0x8
const priorityFlag = 0x20
/** What a field of a list costs beside its text: two references. */
const fieldCost = 16
const empty = Buffer.alloc(0)

/** A header list that waits for its stream. */
interface Waiting {
  readonly list: HeaderList
  readonly cost: number
}

/** A frame under way whose payload is wanted. */
interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly length: number
}

export class HeaderReader {
  readonly #decoder = new HpackDecoder()
  readonly #limits: HeaderReaderLimits
  readonly #waiting = new Map<number, Waiting>()
  #waitingCost = 0
  #newestStream = 0
  /** Octets that are passed over: the rest of the preface or of a payload. */
  #skip = prefaceLength
  /** A frame head or wanted payload that arrives in pieces. */
  #partial: Buffer = empty
  #filled = 0
  #frame: Frame | undefined
  /** The stream of a header block that goes on in the next frame, and its fragments. */
  #blockStream = 0
  #fragments: Buffer[] = []
  #blockLength = 0
  #frames = 0
  #broken = false

  constructor(limits: HeaderReaderLimits) {
    this.#limits = limits
  }

  /**
   * Takes what arrived next.
   *
   * @returns false when the client breaks the protocol or a limit: the connection must end.
   */
  read(chunk: Buffer): boolean {
    let at = 0
    while (!this.#broken && at < chunk.length) {
      if (this.#skip > 0) {
        const skipped = Math.min(this.#skip, chunk.length - at)
        this.#skip -= skipped
        at += skipped
        continue
      }
      const wanted = this.#frame === undefined ? headLength : this.#frame.length
      if (this.#filled === 0 && chunk.length - at >= wanted) {
        this.#complete(chunk, at)
        at += wanted
      } else at += this.#fill(chunk, { at, wanted })
    }
    return !this.#broken
  }

  /**
   * The list of a stream that the session has opened; at most once. Streams appear in the order of their numbers: lists of earlier ones,
   * which the session refused, are forgotten.
   */
  take(stream: number): HeaderList | undefined {
    for (const [id, { list, cost }] of this.#waiting) {
      if (id > stream) return undefined
      this.#waiting.delete(id)
      this.#waitingCost -= cost
      if (id === stream) return list
    }
    return undefined
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
    if (this.#filled === wanted) {
      const whole = this.#partial
      this.#partial = empty
      this.#filled = 0
      this.#complete(whole, 0)
    }
    return taken
  }

  #complete(source: Buffer, at: number): void {
    const frame = this.#frame
    if (frame === undefined) this.#head(source, at)
    else this.#payload(frame, source.subarray(at, at + frame.length))
  }

  #head(source: Buffer, at: number): void {
    const length = source.readUIntBE(at, lengthOctets)
    const type = source[at + 3]!
    const stream = source.readUInt32BE(at + 5) & 0x7fffffff
    const continues = this.#blockStream !== 0
    if (continues ? type !== continuationFrame || stream !== this.#blockStream : type === continuationFrame) this.#broken = true
    else if (type !== headersFrame && type !== continuationFrame) this.#skip = length
    else if (stream === 0 || length > this.#limits.frameBytes) this.#broken = true
    else {
      this.#frame = { type, flags: source[at + 4]!, stream, length }
      if (length === 0) this.#payload(this.#frame, empty)
    }
  }

  #payload(frame: Frame, payload: Buffer): void {
    this.#frame = undefined
    const fragment = frame.type === headersFrame ? fragmentOf(frame, payload) : payload
    if (fragment === undefined) {
      this.#broken = true
      return
    }
    const ends = (frame.flags & endHeadersFlag) !== 0
    if (ends && this.#blockStream === 0) {
      this.#block(frame.stream, fragment)
      return
    }
    this.#blockStream = frame.stream
    this.#blockLength += fragment.length
    // Empty frames are counted too.
    this.#frames++
    if (this.#blockLength > this.#limits.blockBytes || this.#frames > maxFrames(this.#limits)) {
      this.#broken = true
      return
    }
    this.#fragments.push(Buffer.from(fragment))
    if (!ends) return
    const block = Buffer.concat(this.#fragments)
    this.#fragments = []
    this.#blockStream = 0
    this.#blockLength = 0
    this.#frames = 0
    this.#block(frame.stream, block)
  }

  #block(stream: number, block: Buffer): void {
    // Trailers, and what no client may send, are decoded for the sake of the table alone.
    const opens = stream > this.#newestStream && (stream & 1) === 1
    const list = new HeaderList(opens ? this.#limits.listBytes : 0)
    if (!this.#decoder.decode(block, list)) {
      this.#broken = true
      return
    }
    if (!opens) return
    this.#newestStream = stream
    const cost = block.length + list.raw.length * fieldCost
    this.#waiting.set(stream, { list, cost })
    this.#waitingCost += cost
    if (this.#waitingCost > this.#limits.blockBytes) this.#broken = true
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
