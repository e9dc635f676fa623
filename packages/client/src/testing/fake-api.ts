import { type ApiObject, fakeClock } from '@krmkit/meta'
import type { ApiRequest, ApiResponse, Handler } from '@krmkit/protocol'
import { resourceType } from '../resource.ts'

/** A received request. */
export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: ApiRequest['headers']
  readonly body: unknown
  readonly user: ApiRequest['user']
}

export interface Note extends ApiObject {
  spec: { text: string }
}

export const Note = resourceType<Note>({ group: 'example.com', version: 'v1', resource: 'notes', kind: 'Note' })

/** Creates a note without apiVersion and kind, as in a list. */
export function note(
  name: string,
  version: number,
  more: { uid?: string; text?: string; namespace?: string; labels?: Record<string, string> } = {},
) {
  const { uid = `uid-${name}`, text = '', namespace = 'default', labels = {} } = more
  return { metadata: { name, namespace, uid, resourceVersion: String(version), labels }, spec: { text } }
}

export function json(
  value: unknown,
  more: { readonly status?: number; readonly headers?: Record<string, string | string[]> } = {},
): ApiResponse {
  const bytes = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
  return {
    status: more.status ?? 200,
    headers: { 'content-type': 'application/json', ...more.headers },
    body: { kind: 'bytes', bytes },
  }
}

export function noteList(version: number, items: readonly unknown[], more: Record<string, unknown> = {}): ApiResponse {
  return json({ kind: 'NoteList', apiVersion: 'example.com/v1', metadata: { resourceVersion: String(version), ...more }, items })
}

export function status(code: number, reason: string, message = reason, more: Record<string, unknown> = {}): ApiResponse {
  return json(
    { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', reason, message, code, ...more },
    { status: code },
  )
}

export function event(type: string, object: object): string {
  return `${JSON.stringify({ type, object: { apiVersion: 'example.com/v1', kind: 'Note', ...object } })}\n`
}

/** A watch that the test pushes events to; it ends when the client disconnects. */
export class FakeWatch {
  readonly response: ApiResponse
  readonly released: Promise<void>
  #pieces: (string | Uint8Array)[] = []
  #ended = false
  #wake: () => void = () => undefined
  #release: () => void = () => undefined

  constructor(...first: (string | Uint8Array)[]) {
    this.#pieces.push(...first)
    this.released = new Promise((resolve) => {
      this.#release = resolve
    })
    this.response = {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: { kind: 'stream', stream: this.#stream() },
    }
  }

  send(...pieces: (string | Uint8Array)[]): this {
    this.#pieces.push(...pieces)
    this.#wake()
    return this
  }

  end(): void {
    this.#ended = true
    this.#wake()
  }

  /** Ends the watch when the signal of the client aborts. */
  endOn(signal: AbortSignal): this {
    signal.addEventListener('abort', () => this.end(), { once: true })
    return this
  }

  async *#stream(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const piece = this.#pieces.shift()
        if (piece !== undefined) {
          yield typeof piece === 'string' ? Buffer.from(piece) : piece
          continue
        }
        if (this.#ended) return
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    } finally {
      this.#release()
    }
  }
}

export type FakeResponse = ApiResponse | FakeWatch | ((seen: ReceivedRequest) => ApiResponse)

/** Creates a handler that returns responses in order and records requests. Rejects when no response is left. */
export function fakeApi(...responses: FakeResponse[]) {
  const seen: ReceivedRequest[] = []
  const waiting: (() => void)[] = []
  const handle: Handler = async (request) => {
    const bytes = await request.body(1 << 20)
    const received: ReceivedRequest = {
      method: request.method,
      path: request.path,
      query: request.query,
      headers: request.headers,
      body: bytes.length === 0 ? undefined : JSON.parse(Buffer.from(bytes).toString()),
      user: request.user,
    }
    seen.push(received)
    for (const wake of waiting.splice(0)) wake()
    const response = responses.shift()
    if (response === undefined) throw new Error(`no response is left for ${received.method} ${received.path}?${received.query}`)
    if (response instanceof FakeWatch) return response.endOn(request.signal).response
    return typeof response === 'function' ? response(received) : response
  }
  /** Resolves when `count` requests were received. */
  const waitForRequests = async (count: number) => {
    while (seen.length < count) await new Promise<void>((resolve) => waiting.push(resolve))
  }
  return { handle, seen, waitForRequests, respond: (...more: FakeResponse[]) => void responses.push(...more) }
}

/** A fake clock that advances to the next timer as soon as the event loop is idle. */
export function eagerClock() {
  const clock = fakeClock(0)
  return {
    ...clock,
    now: () => clock.now(),
    setTimeout(fn: () => void, ms: number) {
      const cancel = clock.setTimeout(fn, ms)
      setImmediate(() => {
        if (clock.nextAt !== undefined) clock.advanceTo(clock.nextAt)
      })
      return cancel
    },
  }
}

/** Random bytes of zero, which remove the jitter from backoff. */
export const noJitter = { bytes: (size: number) => new Uint8Array(size) }
