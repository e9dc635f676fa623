import { ByteQueue } from './byte-queue.ts'

/** Bytes that wait for one reader until the client is held back. */
const maxQueuedBytes = 16 * 1024

/** Holds a client back while a part of the server has not taken what the client sent. */
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

/** Takes the next bytes; null after the last ones. */
export type InputReader = (bytes: Buffer | null) => void

/** What a client sends to one reader. Small parts are joined until the reader asks for them. */
export class InputQueue implements AsyncIterable<Uint8Array> {
  readonly #intake: Intake
  readonly #bytes = new ByteQueue()
  #reader: InputReader | undefined
  #isEnded = false

  constructor(intake: Intake) {
    this.#intake = intake
  }

  /** Adds bytes, which the caller does not change later. Dropped after the end. */
  push(bytes: Buffer): void {
    if (this.#isEnded || bytes.length === 0) return
    if (this.#reader !== undefined) {
      this.#deliver(bytes)
      return
    }
    this.#bytes.push(bytes)
    if (this.#bytes.length >= maxQueuedBytes) this.#intake.hold(this)
  }

  /** Ends the input after what was added. */
  end(): void {
    this.#isEnded = true
    this.#intake.release(this)
    if (this.#reader !== undefined) this.#deliver(null)
  }

  /** Ends the input, and drops what was not read. */
  discard(): void {
    this.#bytes.clear()
    this.end()
  }

  /** Calls the reader once, when there are bytes or the input has ended. */
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
