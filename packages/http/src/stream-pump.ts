import type { ReadyChunks } from '@krmkit/protocol'
import type { CoalescedStream, WriteCoalescer } from './write-coalescer.ts'

/** The destination of a stream: one response over HTTP/1.1, HTTP/2 or WebSocket. */
export interface StreamSink {
  /** Writes the pieces together. Returns false when the buffer is full: wait for `onceDrained`. */
  send(pieces: readonly Uint8Array[]): boolean
  /** Calls `fn` once when the buffer has drained. */
  onceDrained(fn: () => void): void
  /** Calls `fn` once when the client disconnects or the response is complete. */
  onceClosed(fn: () => void): void
  /** Ends the response cleanly. */
  end(): void
  /** Interrupts the response, so that the client can see that it is incomplete. */
  abort(): void
}

/** The stream to copy. */
export interface PumpedStream {
  readonly stream: AsyncIterable<Uint8Array>
  readonly ready?: ReadyChunks | undefined
}

/** Pieces above this total size are sent before the end of the turn. */
const flushBytes = 64 * 1024

/**
 * Copies a stream to its sink. Pieces are collected, and sent together when the coalescer flushes. Until then, and while the sink is full,
 * nothing is pulled, so that a stream which joins the events since its last piece can join more of them. Ready chunks are taken during
 * collection, without a promise.
 *
 *     pulling --piece--> scheduled --collect--> pulling what is ready --flush--> resting --resume | collect--> pulling
 *     pulling --chunks are ready--> scheduled
 *     pulling --sink full--> paused --drained--> pulling
 *     any --client disconnected | stopped--> closed (the iterator is returned)
 */
export class StreamPump implements CoalescedStream {
  readonly #iterator: AsyncIterator<Uint8Array>
  readonly #ready: ReadyChunks | undefined
  readonly #sink: StreamSink
  readonly #coalescer: WriteCoalescer
  readonly #onPiece = (result: IteratorResult<Uint8Array>) => this.#receive(result)
  readonly #onFailure = (error: unknown) => this.#fail(error)
  #pieces: Uint8Array[] = []
  #bytes = 0
  #isPulling = false
  /** Whether the coalescer has this stream scheduled, and will call `collect`, `flush` and `resume`. */
  #isScheduled = false
  /** True between `collect` and `flush`, when everything that is ready is pulled. */
  #isCollecting = false
  #full = false
  /** Whether chunks have become ready since they were last taken. */
  #hasReady = false
  #closed = false
  #done: { readonly resolve: () => void; readonly reject: (error: unknown) => void } | undefined

  constructor({ stream, ready }: PumpedStream, options: { readonly sink: StreamSink; readonly coalescer: WriteCoalescer }) {
    this.#iterator = stream[Symbol.asyncIterator]()
    this.#ready = ready
    this.#sink = options.sink
    this.#coalescer = options.coalescer
    this.#sink.onceClosed(() => this.#close())
  }

  /** Resolves when the stream is sent or the client disconnects. Rejects when the stream fails, after interrupting the response. */
  run(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#done = { resolve, reject }
      if (this.#closed) {
        resolve()
        return
      }
      if (this.#ready !== undefined) this.#ready.onReady = () => this.#onReady()
      this.#pull()
    })
  }

  /** Ends the response cleanly and cancels the stream. */
  stop(): void {
    if (this.#closed) return
    this.#finish()
    this.#release()
  }

  collect(): void {
    this.#isCollecting = true
    this.#take()
    this.#pull()
  }

  flush(): boolean {
    this.#isCollecting = false
    if (this.#pieces.length === 0 || this.#closed) return false
    this.#send()
    return true
  }

  resume(): void {
    this.#isScheduled = false
    if (this.#pieces.length > 0 || (this.#hasReady && !this.#full)) this.#schedule()
    else this.#pull()
  }

  #onReady(): void {
    this.#hasReady = true
    if (!this.#full && !this.#closed) this.#schedule()
  }

  #take(): void {
    if (this.#ready === undefined || this.#full || this.#closed) return
    this.#hasReady = false
    for (const chunk of this.#ready.take()) this.#add(chunk)
  }

  #pull(): void {
    if (this.#isPulling || this.#full || this.#closed) return
    this.#isPulling = true
    this.#iterator.next().then(this.#onPiece, this.#onFailure)
  }

  #receive({ done, value }: IteratorResult<Uint8Array>): void {
    this.#isPulling = false
    if (this.#closed) return
    if (done === true) {
      this.#finish()
      return
    }
    this.#add(value)
    if (this.#pieces.length > 0) this.#schedule()
    if (this.#pieces.length === 0 || this.#isCollecting) this.#pull()
  }

  #fail(error: unknown): void {
    this.#isPulling = false
    if (this.#closed) return
    this.#closed = true
    this.#sink.abort()
    this.#done?.reject(error)
  }

  #add(piece: Uint8Array): void {
    if (piece.length === 0) return
    this.#pieces.push(piece)
    this.#bytes += piece.length
    if (this.#bytes >= flushBytes) this.#send()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#coalescer.schedule(this)
  }

  #send(): void {
    const pieces = this.#pieces
    this.#pieces = []
    this.#bytes = 0
    if (this.#sink.send(pieces) || this.#full) return
    this.#full = true
    this.#sink.onceDrained(() => {
      this.#full = false
      if (!this.#isScheduled) this.resume()
    })
  }

  #finish(): void {
    this.flush()
    this.#closed = true
    this.#sink.end()
    this.#done?.resolve()
  }

  #close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#pieces = []
    this.#release()
    this.#done?.resolve()
  }

  #release(): void {
    this.#iterator.return?.(undefined).catch(() => undefined)
  }
}
