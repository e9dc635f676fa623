import type { TurnQueue } from './turn-queue.ts'

/** Where the pieces of a stream go: one answer of HTTP/1.1 or HTTP/2. */
export interface Outlet {
  /** Sends pieces together. False: full, wait for `drained`. */
  send(pieces: readonly Uint8Array[]): boolean
  /** Calls `fn` once when there is room again. */
  onceDrained(fn: () => void): void
  /** Calls `fn` once when the client is gone or the answer is complete. */
  onceClosed(fn: () => void): void
  /** Ends the answer cleanly. */
  end(): void
  /** Cuts the answer off, so that the client can tell that it is incomplete. */
  abort(): void
}

/** Pieces waiting for the end of the turn are sent at once above this. */
const flushBytes = 64 * 1024

/**
 * Carries a stream to its outlet, pulling piece by piece: everything that is ready within one turn of the event loop is
 * sent together, and nothing more is pulled while the outlet is full.
 *
 *     pulling --room--> pulling --full--> waiting --drained--> pulling
 *     any --client gone | stopped--> closed (the iterator is returned)
 */
export class StreamPump {
  readonly #iterator: AsyncIterator<Uint8Array>
  readonly #outlet: Outlet
  readonly #turns: TurnQueue
  readonly #flushAtTurnEnd = () => this.#flush()
  #pieces: Uint8Array[] = []
  #bytes = 0
  #full = false
  #closed = false
  #wake: (() => void) | undefined

  constructor(stream: AsyncIterable<Uint8Array>, options: { readonly outlet: Outlet; readonly turns: TurnQueue }) {
    this.#iterator = stream[Symbol.asyncIterator]()
    this.#outlet = options.outlet
    this.#turns = options.turns
    this.#outlet.onceClosed(() => this.#close())
  }

  /** Resolves when all is sent or the client is gone. Rejects when the stream itself fails; the answer is cut off then. */
  async run(): Promise<void> {
    try {
      while (!this.#closed) {
        const { done, value } = await this.#iterator.next()
        if (done === true || this.#closed) break
        this.#add(value)
        if (this.#full) await new Promise<void>((resolve) => this.#waitForRoom(resolve))
      }
    } catch (error) {
      if (this.#closed) return
      this.#closed = true
      this.#outlet.abort()
      throw error
    }
    this.#finish()
  }

  /** Ends the answer cleanly and lets the stream go. */
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
    else if (this.#pieces.length === 1) this.#turns.add(this.#flushAtTurnEnd)
  }

  #flush(): void {
    if (this.#pieces.length === 0 || this.#closed) return
    const pieces = this.#pieces
    this.#pieces = []
    this.#bytes = 0
    if (this.#outlet.send(pieces) || this.#full) return
    this.#full = true
    this.#outlet.onceDrained(() => {
      this.#full = false
      this.#wakeUp()
    })
  }

  #waitForRoom(resolve: () => void): void {
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
    this.#outlet.end()
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
