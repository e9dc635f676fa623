import { ApiError, type UserInfo } from '@krmkit/meta'
import { allowManyListeners } from '@krmkit/meta/platform'
import type { ApiBody, ApiRequest, ApiResponse, Handler, Transport, TransportRequest, TransportResponse } from '@krmkit/protocol'
import { type ClientOptions, createClient } from './client.ts'
import { ClientError } from './client-error.ts'
import type { Client } from './interfaces.ts'

export interface InProcessOptions extends ClientOptions {
  /** The authenticated user. Absent: the authenticators of the server decide. */
  readonly user?: UserInfo
  /** Receives the decision of each admission plugin about the writes of this client. */
  readonly decisions?: ApiRequest['decisions']
  /** Reaches storage versions that the server does not serve, as its own controllers need. Default false. */
  readonly internal?: boolean
}

/**
 * Creates a client of a server in the same process. Requests are calls of its handler, without a socket.
 *
 * @example
 * import { createApiServer } from '@krmkit/apiserver'
 * import { createInProcessClient } from '@krmkit/client'
 * import { memoryStorage } from '@krmkit/storage'
 * await using server = await createApiServer({ storage: memoryStorage() })
 * const client = createInProcessClient(server, { user: { username: 'alice', groups: ['dev'] } })
 */
export function createInProcessClient(server: { readonly handle: Handler } | Handler, options: InProcessOptions = {}): Client {
  const handle = typeof server === 'function' ? server : server.handle
  const { decisions, user, internal } = options
  return createClient(createTransport(handle, { user, decisions, internal }), options)
}

/**
 * Creates a transport that calls a handler. Response bodies and watch events are passed on without a copy.
 *
 * @see {@link createClient}
 */
export function createInProcessTransport(handle: Handler, user?: UserInfo): Transport {
  return createTransport(handle, { user, decisions: undefined, internal: undefined })
}

/** What an in-process caller adds to each request. */
type CallerFields = { readonly [K in 'user' | 'decisions' | 'internal']: ApiRequest[K] }

function createTransport(handle: Handler, caller: CallerFields): Transport {
  const closing = new AbortController()
  // Every open request adds a listener.
  allowManyListeners(closing.signal)
  return {
    async send(request) {
      if (closing.signal.aborted) throw new ClientError({ code: 'Closed', message: 'the client was closed' })
      request.signal?.throwIfAborted()
      const disconnect = new AbortController()
      const abort = () => disconnect.abort()
      request.signal?.addEventListener('abort', abort, { once: true })
      closing.signal.addEventListener('abort', abort, { once: true })
      const release = () => {
        request.signal?.removeEventListener('abort', abort)
        closing.signal.removeEventListener('abort', abort)
      }
      try {
        const response = await abortable(handle(apiRequest(request, { ...caller, signal: disconnect.signal })), request.signal)
        return new InProcessResponse(response, { disconnect, release, signal: request.signal })
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

function apiRequest(request: TransportRequest, options: CallerFields & { readonly signal: AbortSignal }): ApiRequest {
  const { method, path, query, headers, body = new Uint8Array(0) } = request
  return {
    method,
    path,
    query,
    headers,
    body: async (limitBytes) => {
      if (body.length > limitBytes) throw ApiError.requestEntityTooLarge(`limit is ${limitBytes}`)
      return body
    },
    peer: {},
    signal: options.signal,
    ...(options.user === undefined ? {} : { user: options.user }),
    ...(options.decisions === undefined ? {} : { decisions: options.decisions }),
    ...(options.internal === undefined ? {} : { internal: options.internal }),
  }
}

/** Rejects when the signal aborts, without waiting for the handler to finish. */
function abortable(response: Promise<ApiResponse>, signal: AbortSignal | undefined): Promise<ApiResponse> {
  if (signal === undefined) return response
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      reject(signal.reason as Error)
      response.then(
        ({ body }) =>
          body.kind === 'stream' &&
          void body.stream[Symbol.asyncIterator]()
            .return?.(undefined)
            ?.catch(() => undefined),
        () => undefined,
      )
    }
    signal.addEventListener('abort', onAbort, { once: true })
    response.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

interface BodyEnd {
  readonly disconnect: AbortController
  readonly release: () => void
  readonly signal: AbortSignal | undefined
}

/** Makes the stream of events when it is read. A class, because V8 keeps what the getter of a literal captures until a full collection. */
class InProcessResponse implements TransportResponse {
  readonly status: number
  readonly headers: TransportResponse['headers']
  readonly body: TransportResponse['body']
  readonly #body: ApiBody
  readonly #end: BodyEnd

  constructor({ status, headers, body }: ApiResponse, end: BodyEnd) {
    this.status = status
    this.headers = headers
    this.body = bodyOf(body, end)
    this.#body = body
    this.#end = end
  }

  get events(): TransportResponse['events'] {
    return this.#body.kind === 'stream' && this.#body.events !== undefined ? streamed(this.#body.events, this.#end) : undefined
  }
}

function bodyOf(body: ApiBody, end: BodyEnd): TransportResponse['body'] {
  if (body.kind === 'stream') return streamed(body.stream, end)
  end.release()
  return wholeBody(body)
}

async function* wholeBody(body: Exclude<ApiBody, { kind: 'stream' }>): AsyncGenerator<Uint8Array, void, undefined> {
  if (body.kind === 'bytes') yield body.bytes
  else if (body.kind === 'list') for (const part of body.parts) yield part instanceof Uint8Array ? part : part.bytes()
}

async function* streamed<T>(
  stream: AsyncIterable<T>,
  { disconnect, release, signal }: BodyEnd,
): AsyncGenerator<T, void, undefined> {
  try {
    yield* stream
    signal?.throwIfAborted()
  } finally {
    release()
    disconnect.abort()
  }
}
