import { type ApiObject, fakeClock } from '@krmkit/meta'
import type { ApiRequest, ApiResponse, Handler } from '@krmkit/protocol'
import { resourceType } from '../resource.ts'

/** One request as the fake server saw it. */
export interface Seen {
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

/** A note as the server prints it inside a list: without its type. */
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

/** A watch that the test feeds; it ends when the client goes. */
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

  /** What the server does when the client's signal aborts. */
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

export type Answer = ApiResponse | FakeWatch | ((seen: Seen) => ApiResponse)

/** Answers in order, and keeps what was asked. Asking more than there are answers is an error of the test. */
export function fakeApi(...answers: Answer[]) {
  const seen: Seen[] = []
  const waiting: (() => void)[] = []
  const handle: Handler = async (request) => {
    const bytes = await request.body(1 << 20)
    const one: Seen = {
      method: request.method,
      path: request.path,
      query: request.query,
      headers: request.headers,
      body: bytes.length === 0 ? undefined : JSON.parse(Buffer.from(bytes).toString()),
      user: request.user,
    }
    seen.push(one)
    for (const wake of waiting.splice(0)) wake()
    const answer = answers.shift()
    if (answer === undefined) throw new Error(`no answer is left for ${one.method} ${one.path}?${one.query}`)
    if (answer instanceof FakeWatch) return answer.endOn(request.signal).response
    return typeof answer === 'function' ? answer(one) : answer
  }
  /** Resolves once `count` requests were made. */
  const asked = async (count: number) => {
    while (seen.length < count) await new Promise<void>((resolve) => waiting.push(resolve))
  }
  return { handle, seen, asked, answer: (...more: Answer[]) => void answers.push(...more) }
}

/** A clock that jumps to the next thing that waits as soon as everybody waits. */
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

/** The lowest of chances, so that pauses are what the rule says. */
export const noChance = { bytes: (size: number) => new Uint8Array(size) }
