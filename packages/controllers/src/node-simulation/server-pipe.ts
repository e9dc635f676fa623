import { Duplex } from 'node:stream'

/** More that the client has not read ends its connection. One larger write is allowed. */
const maxUnreadBytes = 64 * 1024 * 1024

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
  /** Called once, when the client does not read what is sent. Only the frame that ends the connection is still sent. */
  overrun(): void
}

/** The server side of an in-process connection. A client that does not read what it is sent cannot send more. */
export class ServerPipe implements ByteSink {
  /** The side that the response carries. */
  readonly connection: Duplex
  #waiting: (() => void)[] = []
  #isFull = false
  #isEnded = false
  #isOverrun = false
  readonly #handlers: PipeHandlers

  constructor(handlers: PipeHandlers) {
    this.#handlers = handlers
    const { receive, whenTaken, closed } = handlers
    this.connection = new Duplex({
      read: () => this.#release(),
      write: (chunk: Buffer, _encoding, done) => {
        receive(chunk)
        whenTaken(() => this.whenDrained(done))
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

  get isEnded(): boolean {
    return this.#isEnded
  }

  send(bytes: Uint8Array): void {
    if (this.#isEnded) return
    if (!this.#isOverrun && this.connection.readableLength > maxUnreadBytes) {
      this.#isOverrun = true
      this.#handlers.overrun()
      return
    }
    this.#isFull = !this.connection.push(bytes)
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
