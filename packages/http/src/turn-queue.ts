/**
 * Joins what many streams have to say within one turn of the event loop into one write for each socket.
 *
 * Watchers of the same collection send the same pieces: when a stream's pieces are those of the stream flushed just before
 * it, the joined bytes are used again instead of being copied again.
 */
export class TurnQueue {
  #waiting: (() => void)[] = []
  #scheduled = false
  readonly #flush = () => this.#run()
  #lastPieces: readonly Uint8Array[] = []
  #lastJoined: Uint8Array = new Uint8Array(0)
  #lastFraming: Framing = 'none'

  /** Calls `flush` once at the end of this turn. */
  add(flush: () => void): void {
    this.#waiting.push(flush)
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(this.#flush)
  }

  /** All pieces as one; framed as one chunk of HTTP/1.1 when asked. The result is shared: nobody may change it. */
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
    const waiting = this.#waiting
    this.#waiting = []
    this.#scheduled = false
    for (const flush of waiting) flush()
    this.#lastPieces = []
    this.#lastJoined = new Uint8Array(0)
  }
}

/** `chunk`: with the size line and line ends of the chunked transfer coding. */
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
