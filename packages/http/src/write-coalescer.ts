/** A rest lasts this many times as long as the flush before it, so writes to streams take at most a third of a busy server. */
const restFactor = 2
const longestRestMs = 5
/** Flushes to fewer streams are not worth delaying events: they take long only when the process had to wait for a processor. */
const manyStreams = 16
/** Timers are not more precise than this. */
const shortestRestMs = 1

/**
 * Coalesces writes: all pieces that a stream has ready go out in one write per socket, at the end of the event-loop turn.
 *
 * After a flush to many streams the next one waits, in proportion to the time that the flush took and for at most 5 ms. Events of the
 * meantime are sent together: a write costs about the same for one event as for ten. Cheap flushes are not followed by a rest.
 *
 * Watchers of the same collection send the same pieces. When the pieces of a stream equal those of the stream flushed just before it,
 * the joined bytes are reused instead of copied again.
 */
export class WriteCoalescer {
  #scheduled: (() => void)[] = []
  #isScheduled = false
  readonly #flush = () => this.#run()
  #lastPieces: readonly Uint8Array[] = []
  #lastJoined: Uint8Array = new Uint8Array(0)
  #lastFraming: Framing = 'none'
  #restsUntil = 0

  /** Calls `flush` once: at the end of this turn, or of the rest after an expensive flush. */
  schedule(flush: () => void): void {
    this.#scheduled.push(flush)
    if (this.#isScheduled) return
    this.#isScheduled = true
    const rest = this.#restsUntil - performance.now()
    if (rest < shortestRestMs) setImmediate(this.#flush)
    else setTimeout(this.#flush, rest)
  }

  /** Joins the pieces, framed as one chunk of HTTP/1.1 with `chunk`. The result is shared and must not be modified. */
  join(pieces: readonly Uint8Array[], framing: Framing): Uint8Array {
    if (framing === 'none' && pieces.length === 1) return pieces[0]!
    if (framing === this.#lastFraming && samePieces(pieces, this.#lastPieces)) return this.#lastJoined
    const joined = framing === 'chunk' ? joinFramed(pieces) : Buffer.concat(pieces)
    this.#lastPieces = pieces
    this.#lastJoined = joined
    this.#lastFraming = framing
    return joined
  }

  #run(): void {
    const flushes = this.#scheduled
    this.#scheduled = []
    this.#isScheduled = false
    const from = performance.now()
    for (const flush of flushes) flush()
    if (flushes.length >= manyStreams) {
      const to = performance.now()
      this.#restsUntil = to + Math.min((to - from) * restFactor, longestRestMs)
    }
    this.#lastPieces = []
    this.#lastJoined = new Uint8Array(0)
  }
}

/** `chunk` adds the size line and the line ends of the chunked transfer coding. */
export type Framing = 'none' | 'chunk'

function samePieces(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

function joinFramed(pieces: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const piece of pieces) length += piece.length
  const size = `${length.toString(16)}\r\n`
  const joined = Buffer.allocUnsafe(size.length + length + 2)
  joined.write(size, 0, 'latin1')
  let at = size.length
  for (const piece of pieces) {
    joined.set(piece, at)
    at += piece.length
  }
  joined[at] = 13
  joined[at + 1] = 10
  return joined
}
