import { internalStatus, RpcError, unknownStatus } from '../rpc-error.ts'
import { failureInTrailers, refusedHeaders } from './call-status.ts'
import type { Headers } from './header-block.ts'
import { MessageReader } from './message-reader.ts'

/** Receives the messages and the end of a call. */
export interface StreamSink {
  /** @param bytes a view, valid only during this call @throws an error to fail the call */
  message(bytes: Buffer): void
  /** The end of the call. `undefined`: the call succeeded. */
  ended(failure: RpcError | undefined): void
  /** Whether the server may send at most a window until `Connection.resume` is called. Default: never full. */
  isFull?(): boolean
}

export interface StreamOptions {
  /** The encoded request headers. */
  readonly headers: Buffer
  /** Time of `performance.now()` at which the call fails; absent: no deadline. */
  readonly deadlineMs?: number | undefined
}

/** One call: a stream of a connection. The connection changes its public members. */
export class RpcStream {
  readonly headers: Buffer
  readonly deadlineMs: number
  /** 0 until the stream is opened. */
  id = 0
  /** Number of bytes that the peer still accepts on this stream. */
  sendWindow = 0
  /** Number of received bytes that no window update has returned yet. */
  unacknowledged = 0
  /** Data that waits for a window. */
  readonly queue: Buffer[] = []
  /** Whether the last data is queued or sent. */
  isFinished = false
  isEnded = false
  readonly #sink: StreamSink
  readonly #reader = new MessageReader()
  readonly #receive: (message: Buffer) => void
  #hasHeaders = false

  constructor(sink: StreamSink, { headers, deadlineMs = Number.POSITIVE_INFINITY }: StreamOptions) {
    this.#sink = sink
    this.headers = headers
    this.deadlineMs = deadlineMs
    this.#receive = (message) => {
      if (!this.isEnded) sink.message(message)
    }
  }

  get isFull(): boolean {
    return this.#sink.isFull?.() === true
  }

  /** @returns the outcome, when these headers end the call */
  receiveHeaders(headers: Headers, isLast: boolean): { readonly failure: RpcError | undefined } | undefined {
    if (!this.#hasHeaders) {
      // Interim (1xx) headers precede those of the response.
      if (headers.get(':status')?.startsWith('1') === true && !isLast) return undefined
      this.#hasHeaders = true
      const failure = refusedHeaders(headers)
      if (failure !== undefined) return { failure }
    }
    return isLast ? { failure: failureInTrailers(headers) } : undefined
  }

  /** @returns the failure, when the data cannot be read */
  receiveData(data: Buffer): RpcError | undefined {
    if (!this.#hasHeaders) return new RpcError({ status: unknownStatus, message: 'the server sent data before headers' })
    try {
      this.#reader.push(data, this.#receive)
      return undefined
    } catch (cause) {
      if (cause instanceof RpcError) return cause
      const problem = cause instanceof Error ? cause.message : String(cause)
      return new RpcError({ status: internalStatus, message: `a response cannot be read: ${problem}`, cause })
    }
  }

  end(failure: RpcError | undefined): void {
    if (this.isEnded) return
    this.isEnded = true
    this.queue.length = 0
    this.#sink.ended(failure)
  }
}
