/**
 * A rest lasts this many times as long as the flush before it, so that writes to streams take at most a quarter of the time of a busy
 * server.
 */
const restFactor = 3
const longestRestMs = 6
/**
 * After a flush that takes longer than `longestRestMs`, the rest is this fraction of the flush, because with very many streams each saved
 * flush matters.
 */
const longFlushFactor = 0.5
const longestRestAfterLongFlushMs = 25
/** Flushes to fewer streams are never followed by a rest: such flushes take long only when the process had to wait for a CPU. */
const manyStreams = 16
/** Shorter rests are skipped, because timers are not more precise than this. */
const shortestRestMs = 1
/** Maximum number of streams flushed in one turn of the event loop; requests are served between two turns. */
const streamsAtOnce = 256

/** A stream whose writes the coalescer schedules. */
export interface CoalescedStream {
  /** Starts pulling; data that is available without waiting arrives before `flush`. */
  collect(): void
  /**
   * Writes the data that has arrived. Returns false when there was none. Afterwards, the stream pulls nothing until `resume` or `collect`.
   */
  flush(): boolean
  /** Lets the stream pull by itself again. */
  resume(): void
}

/**
 * Coalesces writes: all ready data of a stream is sent in one write per socket, at the end of the turn of the event loop. With few streams,
 * it is sent at once.
 *
 *     idle --schedule--> collect, flush --cheap, or few streams--> resume, idle
 *                                       --expensive--> rest --> collect, flush
 *
 * After a flush to many streams, the next flush waits in proportion to the time that the flush took: at most 6 ms, or half the time of a
 * flush that took longer than 12 ms. Streams do not pull during the rest, so that the events of the rest are joined and written once:
 * writing ten events to a stream costs about the same as writing one. Cheap flushes are not followed by a rest.
 *
 * Watchers of the same collection send the same pieces. When the pieces of a stream equal those of the stream flushed just before it, the
 * joined bytes are reused instead of copied again.
 */
export class WriteCoalescer {
  #scheduled: CoalescedStream[] = []
  #isScheduled = false
  #due: readonly CoalescedStream[] = []
  /** Streams of the current flush that have written data. */
  #flushed: CoalescedStream[] = []
  /** Index in `#due` of the first stream that is not flushed yet. */
  #next = 0
  #spentMs = 0
  readonly #run = () => this.#begin()
  /** Begins at once with few streams, because in the next turn requests could be served before their events. */
  readonly #start = () => {
    if (this.#scheduled.length < manyStreams) this.#begin()
    else setImmediate(this.#run)
  }
  readonly #runSlice = () => this.#collectSlice()
  #lastPieces: readonly Uint8Array[] = []
  #lastJoined: Uint8Array = new Uint8Array(0)
  #lastFraming: Framing = 'none'

  /**
   * Schedules one flush of the stream: after the current microtasks; with many streams, at the end of this turn; after an expensive flush,
   * at the end of the rest.
   */
  schedule(stream: CoalescedStream): void {
    this.#scheduled.push(stream)
    if (this.#isScheduled) return
    this.#isScheduled = true
    afterMicrotasks(this.#start)
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

  #begin(): void {
    this.#due = this.#scheduled
    this.#scheduled = []
    this.#flushed = []
    this.#next = 0
    this.#spentMs = 0
    this.#collectSlice()
  }

  #collectSlice(): void {
    const from = performance.now()
    const to = Math.min(this.#next + streamsAtOnce, this.#due.length)
    for (let i = this.#next; i < to; i++) this.#due[i]!.collect()
    afterMicrotasks(() => {
      for (; this.#next < to; this.#next++) {
        const stream = this.#due[this.#next]!
        if (stream.flush()) this.#flushed.push(stream)
        else stream.resume()
      }
      this.#spentMs += performance.now() - from
      this.#lastPieces = []
      this.#lastJoined = new Uint8Array(0)
      if (to < this.#due.length) setImmediate(this.#runSlice)
      else this.#end()
    })
  }

  /** Starts the rest, or resumes the streams. */
  #end(): void {
    const flushed = this.#flushed
    this.#due = []
    this.#flushed = []
    const rest = flushed.length < manyStreams ? 0 : restAfter(this.#spentMs)
    if (rest >= shortestRestMs) {
      for (const stream of flushed) this.#scheduled.push(stream)
      setTimeout(this.#run, rest)
      return
    }
    for (const stream of flushed) stream.resume()
    if (this.#scheduled.length > 0) setImmediate(this.#run)
    else this.#isScheduled = false
  }
}

function restAfter(flushMs: number): number {
  if (flushMs * longFlushFactor > longestRestMs) return Math.min(flushMs * longFlushFactor, longestRestAfterLongFlushMs)
  return Math.min(flushMs * restFactor, longestRestMs)
}

/** Calls `run` when no microtask is left, in this turn of the event loop. */
function afterMicrotasks(run: () => void): void {
  queueMicrotask(() => process.nextTick(run))
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
