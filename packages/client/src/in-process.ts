import type { OptionKinds } from '@krmkit/base/arguments'
import { ApiError, type UserInfo } from '@krmkit/meta'
import type { ApiBody, ApiRequest, ApiResponse, Handler, Transport, TransportRequest, TransportResponse } from '@krmkit/protocol'
import { clientOver } from './client.ts'
import { ClientError } from './client-error.ts'
import { type ClientOptions, checkClientOptions, checkedUser, checkFunctions } from './client-options.ts'
import type { Client } from './interfaces.ts'

export interface InProcessOptions extends ClientOptions {
  /** The authenticated user. Absent: the authenticators of the server decide. */
  readonly user?: UserInfo
  /** Receives the decision of each admission plugin on writes of this client. */
  readonly decisions?: ApiRequest['decisions']
  /** Allows access to storage versions that the server does not serve, for controllers of the server. Default false. */
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
 * @throws ClientError `InvalidRequest` for invalid arguments
 */
export function createInProcessClient(server: { readonly handle: Handler } | Handler, options: InProcessOptions = {}): Client {
  const handle = typeof server === 'function' ? server : server?.handle
  checkFunctions({ handle }, ['handle'], 'createInProcessClient needs a server or its handle')
  checkClientOptions(options, { what: 'createInProcessClient', kinds: callerKinds, example: '{ user: { username, groups } }' })
  const { decisions, internal } = options
  const user = options.user === undefined ? undefined : checkedUser(options.user)
  return clientOver(createTransport(handle, { user, decisions, internal }), options)
}

const callerKinds: OptionKinds<CallerFields> = { user: 'object', decisions: 'function', internal: 'flag' }

/**
 * Creates a transport that calls a handler. Response bodies and watch events are passed on without a copy.
 *
 * @throws ClientError `InvalidRequest` for invalid arguments
 * @see {@link createClient}
 */
export function createInProcessTransport(handle: Handler, user?: UserInfo): Transport {
  checkFunctions({ handle }, ['handle'], 'createInProcessTransport needs the handle of a server')
  return createTransport(handle, {
    user: user === undefined ? undefined : checkedUser(user),
    decisions: undefined,
    internal: undefined,
  })
}

/** The members that an in-process caller adds to each request. */
type CallerFields = { readonly [K in 'user' | 'decisions' | 'internal']: ApiRequest[K] }

function createTransport(handle: Handler, caller: CallerFields): Transport {
  const open = new Set<InProcessRequest>()
  let isClosed = false
  return {
    async send(request) {
      if (isClosed) throw new ClientError({ code: 'Closed', message: 'the client was closed' })
      request.signal?.throwIfAborted()
      const sent = new InProcessRequest(request, caller, open)
      try {
        const response = await abortable(handle(sent), request.signal)
        return new InProcessResponse(response, sent)
      } catch (error) {
        sent.release()
        throw error
      }
    },
    async close() {
      isClosed = true
      for (const request of [...open]) request.disconnect()
    },
  }
}

const noBody = new Uint8Array(0)
const noPeer = {}

/** An in-process request. Its signal is created on first access, which is rare. */
class InProcessRequest implements ApiRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: ApiRequest['headers']
  readonly peer = noPeer
  readonly user: ApiRequest['user']
  readonly decisions: ApiRequest['decisions']
  readonly internal: ApiRequest['internal']
  readonly isBodyReceived = true
  /** Signal of the caller. */
  readonly given: AbortSignal | undefined
  readonly #body: Uint8Array
  readonly #open: Set<InProcessRequest>
  #abort: AbortController | undefined
  #isDisconnected = false

  /** @param open requests of the transport in flight */
  constructor(request: TransportRequest, caller: CallerFields, open: Set<InProcessRequest>) {
    this.method = request.method
    this.path = request.path
    this.query = request.query
    this.headers = request.headers
    this.user = caller.user
    this.decisions = caller.decisions
    this.internal = caller.internal
    this.given = request.signal
    this.#body = request.body ?? noBody
    this.#open = open
    open.add(this)
    this.given?.addEventListener('abort', this, { once: true })
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController()
      if (this.#isDisconnected) this.#abort.abort()
    }
    return this.#abort.signal
  }

  async body(limitBytes: number): Promise<Uint8Array> {
    if (this.#body.length > limitBytes) throw ApiError.requestEntityTooLarge(`limit is ${limitBytes}`)
    return this.#body
  }

  /** Called when the signal of the caller aborts. */
  handleEvent(): void {
    this.disconnect()
  }

  disconnect(): void {
    this.#isDisconnected = true
    this.#abort?.abort()
  }

  /** Called when the request has ended, or will signal its end through the response body. */
  release(): void {
    this.#open.delete(this)
    this.given?.removeEventListener('abort', this)
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

/**
 * Creates the stream of events on first access. A class, because V8 retains objects captured by the getter of an object
 * literal until a full collection.
 */
class InProcessResponse implements TransportResponse {
  readonly status: number
  readonly headers: TransportResponse['headers']
  readonly body: TransportResponse['body']
  readonly #body: ApiBody
  readonly #request: InProcessRequest

  constructor({ status, headers, body }: ApiResponse, request: InProcessRequest) {
    this.status = status
    this.headers = headers
    this.body = bodyOf(body, request)
    this.#body = body
    this.#request = request
  }

  get events(): TransportResponse['events'] {
    return this.#body.kind === 'stream' && this.#body.events !== undefined
      ? streamed(this.#body.events, this.#request)
      : undefined
  }
}

function bodyOf(body: ApiBody, request: InProcessRequest): TransportResponse['body'] {
  if (body.kind === 'stream') return streamed(body.stream, request)
  request.release()
  return wholeBody(body)
}

async function* wholeBody(body: Exclude<ApiBody, { kind: 'stream' }>): AsyncGenerator<Uint8Array, void, undefined> {
  if (body.kind === 'bytes') yield body.bytes
  else if (body.kind === 'list') for (const part of body.parts) yield part instanceof Uint8Array ? part : part.bytes()
}

async function* streamed<T>(stream: AsyncIterable<T>, request: InProcessRequest): AsyncGenerator<T, void, undefined> {
  try {
    yield* stream
    request.given?.throwIfAborted()
  } finally {
    request.release()
    request.disconnect()
  }
}
