import { connect, type Socket } from 'node:net'
import { ApiError } from '@krmkit/meta'
import type { ApiRequest, ApiResponse, Handler } from '@krmkit/protocol'
import type { ListenOptions } from '../interfaces.ts'
import { listen } from '../listen.ts'

/** Creates a text response. */
export function textResponse(
  body: string,
  more: { readonly status?: number; readonly headers?: Record<string, string> } = {},
): ApiResponse {
  return {
    status: more.status ?? 200,
    headers: { 'content-type': 'text/plain', ...more.headers },
    body: { kind: 'bytes', bytes: Buffer.from(body) },
  }
}

/** Converts thrown errors to Status responses, as a real server does. */
export function withErrorResponses(handle: (request: ApiRequest) => Promise<ApiResponse> | ApiResponse): Handler {
  return async (request) => {
    try {
      return await handle(request)
    } catch (error) {
      if (!ApiError.is(error)) throw error
      return textResponse(JSON.stringify(error.status), { status: error.code })
    }
  }
}

/** Listens on a free plain port. */
export function listenPlain(
  handle: (request: ApiRequest) => Promise<ApiResponse> | ApiResponse,
  options: Partial<ListenOptions> = {},
) {
  return listen({ handle: withErrorResponses(handle) }, { tls: false, ...options })
}

/** A raw TCP client that collects its input. */
export class RawClient {
  readonly socket: Socket
  received = ''
  readonly closed: Promise<void>
  #wake: (() => void) | undefined

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1')
    this.socket.setEncoding('latin1').on('data', (chunk) => {
      this.received += String(chunk)
      this.#wake?.()
    })
    this.socket.on('error', () => undefined)
    this.closed = new Promise((resolve) => this.socket.once('close', () => resolve()))
    void this.closed.then(() => this.#wake?.())
  }

  send(data: string): this {
    this.socket.write(data, 'latin1')
    return this
  }

  /** Waits for `pattern`. @returns all input so far */
  async until(pattern: string | RegExp): Promise<string> {
    const has = () => (typeof pattern === 'string' ? this.received.includes(pattern) : pattern.test(this.received))
    while (!has()) {
      if (this.socket.closed) throw new Error(`closed before ${String(pattern)}: ${JSON.stringify(this.received)}`)
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.received
  }
}

/** A stream that tests push to. `released` resolves when its reader returns. */
export class Feed implements AsyncIterable<Uint8Array> {
  readonly released: Promise<void>
  pulled = 0
  #queue: Uint8Array[] = []
  #ended = false
  #failure: Error | undefined
  #wake: (() => void) | undefined
  #release: () => void = () => undefined

  constructor() {
    this.released = new Promise((resolve) => {
      this.#release = resolve
    })
  }

  push(...pieces: (string | Uint8Array)[]): void {
    for (const piece of pieces) this.#queue.push(typeof piece === 'string' ? Buffer.from(piece) : piece)
    this.#wake?.()
  }

  end(failure?: Error): void {
    this.#ended = true
    this.#failure = failure
    this.#wake?.()
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: async () => {
        for (;;) {
          const piece = this.#queue.shift()
          if (piece !== undefined) {
            this.pulled++
            return { done: false, value: piece }
          }
          if (this.#failure !== undefined) throw this.#failure
          if (this.#ended) return { done: true, value: undefined }
          await new Promise<void>((resolve) => {
            this.#wake = resolve
          })
        }
      },
      return: async () => {
        this.#ended = true
        this.#wake?.()
        this.#release()
        return { done: true, value: undefined }
      },
    }
  }
}

/** Creates a response that streams `feed`. */
export function streamResponse(feed: AsyncIterable<Uint8Array>): ApiResponse {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: { kind: 'stream', stream: feed } }
}
