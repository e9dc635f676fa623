import type { WriteCoalescer } from './write-coalescer.ts'

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

/** Above this, pieces are sent before the end of the turn. */
const flushBytes = 64 * 1024

/**
 * Copies a stream to its sink. All pieces that are ready within one event-loop turn are sent together; while the sink is full, nothing
 * is pulled.
 *
 *     pulling --sink full--> paused --drained--> pulling
 *     any --client disconnected | stopped--> closed (the iterator is returned)
 */
export class StreamPump {
  readonly #iterator: AsyncIterator<Uint8Array>
  readonly #sink: StreamSink
  readonly #coalescer: WriteCoalescer
  readonly #flushAtTurnEnd = () => this.#flush()
  #pieces: Uint8Array[] = []
  #bytes = 0
  #full = false
  #closed = false
  #wake: (() => void) | undefined

  constructor(stream: AsyncIterable<Uint8Array>, options: { readonly sink: StreamSink; readonly coalescer: WriteCoalescer }) {
    this.#iterator = stream[Symbol.asyncIterator]()
    this.#sink = options.sink
    this.#coalescer = options.coalescer
    this.#sink.onceClosed(() => this.#close())
  }

  /** Resolves when the stream is sent or the client disconnects. Rejects when the stream fails, after interrupting the response. */
  async run(): Promise<void> {
    try {
      while (!this.#closed) {
        const { done, value } = await this.#iterator.next()
        if (done === true || this.#closed) break
        this.#add(value)
        if (this.#full) await new Promise<void>((resolve) => this.#waitForDrain(resolve))
      }
    } catch (error) {
      if (this.#closed) return
      this.#closed = true
      this.#sink.abort()
      throw error
    }
    this.#finish()
  }

  /** Ends the response cleanly and cancels the stream. */
  stop(): void {
    if (this.#closed) return
    this.#finish()
    this.#release()
  }

  #add(piece: Uint8Array): void {
    if (piece.length === 0) return
    this.#pieces.push(piece)
    this.#bytes += piece.length
    if (this.#bytes >= flushBytes) this.#flush()
    else if (this.#pieces.length === 1) this.#coalescer.schedule(this.#flushAtTurnEnd)
  }

  #flush(): void {
    if (this.#pieces.length === 0 || this.#closed) return
    const pieces = this.#pieces
    this.#pieces = []
    this.#bytes = 0
    if (this.#sink.send(pieces) || this.#full) return
    this.#full = true
    this.#sink.onceDrained(() => {
      this.#full = false
      this.#wakeUp()
    })
  }

  #waitForDrain(resolve: () => void): void {
    if (!this.#full || this.#closed) resolve()
    else this.#wake = resolve
  }

  #wakeUp(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  #finish(): void {
    if (this.#closed) return
    this.#flush()
    this.#closed = true
    this.#sink.end()
    this.#wakeUp()
  }

  #close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#pieces = []
    this.#wakeUp()
    this.#release()
  }

  #release(): void {
    this.#iterator.return?.(undefined).catch(() => undefined)
  }
}
