import { concatBytes } from '@krmkit/base/bytes'
import { ApiError, type UserInfo } from '@krmkit/meta'
import type { ApiBody, ApiRequest, Peer } from '@krmkit/protocol'
import { decodeHeaderValue, isHeaderName, sanitizeHeaderValue } from './header-value.ts'
import type { ServerLike } from './interfaces.ts'
import { splitTarget } from './request-head.ts'
import { cancelStream, groupParts } from './response-body.ts'

export interface FetchHandlerOptions {
  /** Returns the peer of a request, if the host knows it. */
  readonly peer?: (request: Request) => Peer
  /** Returns the user of a request that the host has authenticated. */
  readonly user?: (request: Request) => UserInfo | undefined
}

/**
 * Adapts a server to the fetch API, for hosts such as `Deno.serve` and service workers. Streams are sent chunk by chunk and stop when
 * their reader cancels. The host normalizes the URL, so dot segments of a path do not reach the handler.
 *
 * @example
 * import { createApiServer } from '@krmkit/apiserver'
 * import { createFetchHandler } from '@krmkit/http'
 * import { memoryStorage } from '@krmkit/storage'
 * const server = await createApiServer({ storage: memoryStorage() })
 * const handle = createFetchHandler(server) // Deno.serve(handle)
 * const { status } = await handle(new Request('http://localhost/version'))
 * status // 200
 */
export function createFetchHandler(
  served: ServerLike,
  options: FetchHandlerOptions = {},
): (request: Request) => Promise<Response> {
  return async (request) => {
    const user = options.user?.(request)
    const response = await served.handle({
      method: request.method,
      ...splitTarget(withoutFragment(request.url)),
      headers: headersOf(request.headers),
      headersJoined: true,
      body: async (limitBytes) => readAll(await bodyStreamOf(request), limitBytes),
      stream: () => chunksOf(request),
      peer: options.peer?.(request) ?? {},
      signal: request.signal,
      ...(user === undefined ? {} : { user }),
    } satisfies ApiRequest)
    const headers = new Headers()
    for (const [name, value] of Object.entries(response.headers)) {
      if (!isHeaderName(name)) continue
      for (const each of typeof value === 'string' ? [value] : value) headers.append(name, sanitizeHeaderValue(each))
    }
    const { body, status } = response
    const hasNoBody = request.method === 'HEAD' || status === 204 || status === 205 || status === 304
    if (hasNoBody && body.kind === 'stream') cancelStream(body.stream)
    return new Response(hasNoBody ? null : bodyOf(body), { status, headers })
  }
}

/** The host has already joined repeated headers. */
function headersOf(received: Headers): ApiRequest['headers'] {
  const headers: Record<string, string> = Object.create(null)
  for (const [name, value] of received) headers[name] = decodeHeaderValue(value)
  return headers
}

function withoutFragment(url: string): string {
  const hash = url.indexOf('#')
  return hash < 0 ? url : url.slice(0, hash)
}

/** The body as a stream. Requests in Firefox have no member `body`. */
async function bodyStreamOf(request: Request): Promise<ReadableStream<Uint8Array> | null> {
  const body: ReadableStream<Uint8Array> | null | undefined = request.body
  return body === undefined ? (await request.blob()).stream() : body
}

async function* chunksOf(request: Request): AsyncGenerator<Uint8Array> {
  const reader = (await bodyStreamOf(request))?.getReader()
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

async function readAll(body: ReadableStream<Uint8Array> | null, limitBytes: number): Promise<Uint8Array> {
  if (body === null) return new Uint8Array(0)
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    length += value.length
    if (length > limitBytes) {
      await reader.cancel().catch(() => undefined)
      throw ApiError.requestEntityTooLarge(`limit is ${limitBytes}`)
    }
    chunks.push(value)
  }
  return chunks.length === 1 ? chunks[0]! : concatBytes(chunks, length)
}

function bodyOf(body: ApiBody): BodyInit | null {
  switch (body.kind) {
    case 'empty':
      return null
    case 'bytes':
      return body.bytes as Uint8Array<ArrayBuffer>
    case 'list':
      return readable(groupParts(body.parts))
    case 'stream':
      return readable(body.stream[Symbol.asyncIterator]())
    case 'connection':
      // Fetch requests are not upgradable.
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
