import { Duplex } from 'node:stream'

/** Takes bytes for the client. */
export interface ByteSink {
  send(bytes: Uint8Array): void
  /** Calls back when the client has taken enough of what was sent. */
  whenDrained(callback: () => void): void
  /** Ends the connection after what was sent. */
  close(): void
}

export interface PipeHandlers {
  receive(chunk: Buffer): void
  /** Calls back when more can be received. */
  whenTaken(done: () => void): void
  /** Called when the client ends the connection. */
  closed(): void
}

/** The server side of an in-process connection. */
export class ServerPipe implements ByteSink {
  /** The side that the response carries. */
  readonly connection: Duplex
  #waiting: (() => void)[] = []
  #isFull = false
  #isEnded = false

  constructor({ receive, whenTaken, closed }: PipeHandlers) {
    this.connection = new Duplex({
      read: () => this.#release(),
      write(chunk: Buffer, _encoding, done) {
        receive(chunk)
        whenTaken(done)
      },
      final: (done) => {
        closed()
        this.close()
        done()
      },
      destroy: (error, done) => {
        this.#isEnded = true
        closed()
        this.#release()
        done(error)
      },
    })
  }

  send(bytes: Uint8Array): void {
    if (!this.#isEnded) this.#isFull = !this.connection.push(bytes)
  }

  whenDrained(callback: () => void): void {
    if (this.#isFull && !this.#isEnded) this.#waiting.push(callback)
    else callback()
  }

  close(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.connection.push(null)
    this.#release()
  }

  #release(): void {
    this.#isFull = false
    const waiting = this.#waiting
    this.#waiting = []
    for (const callback of waiting) callback()
  }
}
