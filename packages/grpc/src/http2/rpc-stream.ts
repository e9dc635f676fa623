import { internalStatus, RpcError, unknownStatus } from '../rpc-error.ts'
import { failureInTrailers, refusedHeaders } from './call-status.ts'
import type { Headers } from './header-block.ts'
import { MessageReader } from './message-reader.ts'

/** Receives what a call yields. */
export interface StreamSink {
  /** @param bytes a view, valid during the call @throws what makes the call fail */
  message(bytes: Buffer): void
  /** Nothing follows. `undefined`: the call succeeded. */
  ended(failure: RpcError | undefined): void
  /** The server may not send more than a window until `Connection.resume` is called. Default: it always may. */
  isFull?(): boolean
}

export interface StreamOptions {
  /** The encoded request headers. */
  readonly headers: Buffer
  /** When the call fails, on the clock of `performance`; absent: never. */
  readonly deadlineMs?: number | undefined
}

/** One call: a stream of a connection. The connection changes its public members. */
export class RpcStream {
  readonly headers: Buffer
  readonly deadlineMs: number
  /** 0 until the stream is opened. */
  id = 0
  /** Bytes that the peer accepts on this stream. */
  sendWindow = 0
  /** Received bytes that the peer has not been given back. */
  unacknowledged = 0
  /** Data that wait for a window. */
  readonly queue: Buffer[] = []
  /** The last data are in the queue, or sent. */
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

  /** @returns the outcome, where the headers are the last ones */
  receiveHeaders(headers: Headers, isLast: boolean): { readonly failure: RpcError | undefined } | undefined {
    if (!this.#hasHeaders) {
      // An interim response precedes the response.
      if (headers.get(':status')?.startsWith('1') === true && !isLast) return undefined
      this.#hasHeaders = true
      const failure = refusedHeaders(headers)
      if (failure !== undefined) return { failure }
    }
    return isLast ? { failure: failureInTrailers(headers) } : undefined
  }

  /** @returns the failure, where the data cannot be read */
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
