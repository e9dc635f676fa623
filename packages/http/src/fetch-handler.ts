import { ApiError, type UserInfo } from '@krmkit/meta'
import type { ApiBody, ApiRequest, Peer } from '@krmkit/protocol'
import { dropStream, groups } from './exchange.ts'
import { answerText, isSendable, sentText } from './header-text.ts'
import type { Served } from './interfaces.ts'
import { splitTarget } from './request-head.ts'

export interface FetchHandlerOptions {
  /** Who is at the other end, where the host program knows. */
  readonly peer?: (request: Request) => Peer
  /** A caller whom the host program has authenticated already. */
  readonly user?: (request: Request) => UserInfo | undefined
}

/**
 * The server as a function from `Request` to `Response`, for hosts that speak fetch. Streams answer as they come and stop
 * when their reader cancels. Hosts parse the URL before we see it, so dot segments of a path are gone by then.
 */
export function fetchHandler(served: Served, options: FetchHandlerOptions = {}): (request: Request) => Promise<Response> {
  return async (request) => {
    const user = options.user?.(request)
    const answer = await served.handle({
      method: request.method,
      ...splitTarget(withoutFragment(request.url)),
      headers: headersOf(request.headers),
      headersJoined: true,
      body: (limit) => readAll(request.body, limit),
      stream: () => piecesOf(request.body),
      peer: options.peer?.(request) ?? {},
      signal: request.signal,
      ...(user === undefined ? {} : { user }),
    } satisfies ApiRequest)
    const headers = new Headers()
    for (const [name, value] of Object.entries(answer.headers)) {
      for (const one of typeof value === 'string' ? [value] : value) if (isSendable(name)) headers.append(name, answerText(one))
    }
    const { body, status } = answer
    const bare = request.method === 'HEAD' || status === 204 || status === 205 || status === 304
    if (bare && body.kind === 'stream') dropStream(body.stream)
    return new Response(bare ? null : bodyOf(body), { status, headers })
  }
}

/** Repeated headers are joined by the time that they arrive here. */
function headersOf(received: Headers): ApiRequest['headers'] {
  const headers: Record<string, string> = Object.create(null)
  for (const [name, value] of received) headers[name] = sentText(value)
  return headers
}

function withoutFragment(url: string): string {
  const hash = url.indexOf('#')
  return hash < 0 ? url : url.slice(0, hash)
}

async function* piecesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader()
  if (reader === undefined) return
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

async function readAll(body: ReadableStream<Uint8Array> | null, limit: number): Promise<Uint8Array> {
  if (body === null) return new Uint8Array(0)
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    length += value.length
    if (length > limit) {
      await reader.cancel().catch(() => undefined)
      throw ApiError.requestEntityTooLarge(`limit is ${limit}`)
    }
    chunks.push(value)
  }
  return chunks.length === 1 ? chunks[0]! : join(chunks, length)
}

function join(parts: readonly Uint8Array[], length: number): Uint8Array {
  const joined = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}

function bodyOf(body: ApiBody): BodyInit | null {
  switch (body.kind) {
    case 'empty':
      return null
    case 'bytes':
      return body.bytes as Uint8Array<ArrayBuffer>
    case 'list':
      return readable(groups(body.parts))
    case 'stream':
      return readable(body.stream[Symbol.asyncIterator]())
    case 'connection':
      // Nobody asked for it: requests of fetch cannot go over to another protocol.
      body.connection.destroy()
      return null
  }
}

function readable(iterator: Iterator<Uint8Array> | AsyncIterator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await iterator.return?.(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}
