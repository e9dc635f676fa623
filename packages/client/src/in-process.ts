import { setMaxListeners } from 'node:events'
import { ApiError, type UserInfo } from '@krmkit/meta'
import type { ApiBody, ApiRequest, ApiResponse, Handler, Transport, TransportRequest, TransportResponse } from '@krmkit/protocol'
import { type ClientOptions, createClient } from './client.ts'
import { ClientError } from './client-error.ts'
import type { Client } from './interfaces.ts'

export interface InProcessOptions extends ClientOptions {
  /** Who is calling, authenticated by being in the same process. Absent: the server's authenticators decide. */
  readonly user?: UserInfo
  /** Hears what each admission plugin of the server decided about the writes of this client. */
  readonly decisions?: ApiRequest['decisions']
}

/** A client of a server in the same process: every call is a call of its handler, with no socket between them. */
export function inProcessClient(server: { readonly handle: Handler } | Handler, options: InProcessOptions = {}): Client {
  const own = typeof server === 'function' ? server : server.handle
  const { decisions, user } = options
  const handle: Handler = decisions === undefined ? own : (request) => own({ ...request, decisions })
  return createClient(inProcessTransport(handle, user), options)
}

/** Answers as if they had come over a wire, but handed over as they are. */
export function inProcessTransport(handle: Handler, user?: UserInfo): Transport {
  const closing = new AbortController()
  // Every request and watch under way listens to it.
  setMaxListeners(0, closing.signal)
  return {
    async send(request) {
      if (closing.signal.aborted) throw new ClientError({ code: 'Closed', message: 'the client was closed' })
      request.signal?.throwIfAborted()
      const gone = new AbortController()
      const leave = () => gone.abort()
      request.signal?.addEventListener('abort', leave, { once: true })
      closing.signal.addEventListener('abort', leave, { once: true })
      const release = () => {
        request.signal?.removeEventListener('abort', leave)
        closing.signal.removeEventListener('abort', leave)
      }
      try {
        const answer = await abortable(handle(apiRequest(request, { user, signal: gone.signal })), request.signal)
        const { status, headers, body } = answer
        const end = { gone, release, signal: request.signal }
        return {
          status,
          headers,
          body: bodyOf(body, end),
          get events() {
            return body.kind === 'stream' && body.events !== undefined ? streamed(body.events, end) : undefined
          },
        }
      } catch (error) {
        release()
        throw error
      }
    },
    async close() {
      closing.abort()
    },
  }
}

function apiRequest(request: TransportRequest, options: { user: UserInfo | undefined; signal: AbortSignal }): ApiRequest {
  const { method, path, query, headers, body = new Uint8Array(0) } = request
  return {
    method,
    path,
    query,
    headers,
    body: async (limit) => {
      if (body.length > limit) throw ApiError.requestEntityTooLarge(`limit is ${limit}`)
      return body
    },
    peer: {},
    signal: options.signal,
    ...(options.user === undefined ? {} : { user: options.user }),
  }
}

/** The handler may go on for a while after the caller has lost interest; the caller does not wait for it. */
function abortable(answer: Promise<ApiResponse>, signal: AbortSignal | undefined): Promise<ApiResponse> {
  if (signal === undefined) return answer
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      reject(signal.reason as Error)
      answer.then(
        ({ body }) =>
          body.kind === 'stream' &&
          void body.stream[Symbol.asyncIterator]()
            .return?.(undefined)
            ?.catch(() => undefined),
        () => undefined,
      )
    }
    signal.addEventListener('abort', onAbort, { once: true })
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

interface BodyEnd {
  readonly gone: AbortController
  readonly release: () => void
  readonly signal: AbortSignal | undefined
}

function bodyOf(body: ApiBody, end: BodyEnd): TransportResponse['body'] {
  if (body.kind === 'stream') return streamed(body.stream, end)
  end.release()
  return whole(body)
}

async function* whole(body: Exclude<ApiBody, { kind: 'stream' }>): AsyncGenerator<Uint8Array, void, undefined> {
  if (body.kind === 'bytes') yield body.bytes
  else if (body.kind === 'list') for (const part of body.parts) yield part instanceof Uint8Array ? part : part.bytes()
}

async function* streamed<T>(stream: AsyncIterable<T>, { gone, release, signal }: BodyEnd): AsyncGenerator<T, void, undefined> {
  try {
    yield* stream
    signal?.throwIfAborted()
  } finally {
    release()
    gone.abort()
  }
}
