import { Duplex } from 'node:stream'

/** More unread bytes than this end the connection of the client. A single larger write is allowed. */
const maxUnreadBytes = 64 * 1024 * 1024

/** Sends bytes to the client. */
export interface ByteSink {
  send(bytes: Uint8Array): void
  /** Calls back when the client has taken enough of what was sent. */
  whenDrained(callback: () => void): void
  /** Ends the connection after all sent bytes. */
  close(): void
}

export interface PipeHandlers {
  receive(chunk: Buffer): void
  /** Calls back when more can be received. */
  whenTaken(done: () => void): void
  /** Called when the client ends the connection. */
  closed(): void
  /** Called once, when the unread bytes exceed the limit. Afterwards only the frame that ends the connection is sent. */
  overrun(): void
}

/** The server side of an in-process connection. A client that does not read is held back from sending. */
export class ServerPipe implements ByteSink {
  /** The client side of the pipe, passed on in the response. */
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
