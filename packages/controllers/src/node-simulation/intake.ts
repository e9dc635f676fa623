import { ByteQueue } from './byte-queue.ts'

/** Number of unread bytes of one reader above which the client is held back. */
const maxQueuedBytes = 16 * 1024

/** Backpressure: holds a client back while a reader on the server has too many unread bytes. */
export class Intake {
  readonly #holders = new Set<object>()
  #waiting: (() => void)[] = []

  hold(holder: object): void {
    this.#holders.add(holder)
  }

  release(holder: object): void {
    if (!this.#holders.delete(holder) || this.#holders.size > 0) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const done of waiting) done()
  }

  /** Calls back when the client may send more. */
  whenTaken(done: () => void): void {
    if (this.#holders.size === 0) done()
    else this.#waiting.push(done)
  }
}

/** Receives the next bytes; null at the end. */
export type InputReader = (bytes: Buffer | null) => void

/** The bytes that a client sends to one reader. Small chunks are joined until the reader takes them. */
export class InputQueue implements AsyncIterable<Uint8Array> {
  readonly #intake: Intake
  readonly #bytes = new ByteQueue()
  #reader: InputReader | undefined
  #isEnded = false

  constructor(intake: Intake) {
    this.#intake = intake
  }

  /** Adds bytes, which the caller must not change later. Ignored after the end. */
  push(bytes: Buffer): void {
    if (this.#isEnded || bytes.length === 0) return
    if (this.#reader !== undefined) {
      this.#deliver(bytes)
      return
    }
    this.#bytes.push(bytes)
    if (this.#bytes.length >= maxQueuedBytes) this.#intake.hold(this)
  }

  /** Ends the input after the bytes already added. */
  end(): void {
    this.#isEnded = true
    this.#intake.release(this)
    if (this.#reader !== undefined) this.#deliver(null)
  }

  /** Ends the input and discards unread bytes. */
  discard(): void {
    this.#bytes.clear()
    this.end()
  }

  /** Calls the reader once: with bytes when available, or with null at the end. */
  pull(reader: InputReader): void {
    this.#reader = reader
    if (this.#bytes.length > 0) this.#deliver(this.#bytes.take(this.#bytes.length))
    else if (this.#isEnded) this.#deliver(null)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const bytes = await new Promise<Buffer | null>((resolve) => this.pull(resolve))
      if (bytes === null) return
      yield bytes
    }
  }

  #deliver(bytes: Buffer | null): void {
    const reader = this.#reader
    this.#reader = undefined
    reader?.(bytes)
    if (this.#bytes.length < maxQueuedBytes) this.#intake.release(this)
  }
}
