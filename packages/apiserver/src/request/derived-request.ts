import type { ApiRequest } from '@krmkit/protocol'

/** Differences from the original request. */
export interface RequestOverrides {
  readonly headers?: ApiRequest['headers']
  /** Wraps the reading of the body. */
  readonly interceptor?: BodyInterceptor
}

/** Wraps the promise of a body, or the chunks of its stream. */
export interface BodyInterceptor {
  body(body: Promise<Uint8Array>): Promise<Uint8Array>
  stream(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
}

/** A view of a request with other headers or an intercepted body. */
export class DerivedRequest implements ApiRequest {
  readonly #request: ApiRequest
  readonly #interceptor: BodyInterceptor | undefined
  readonly headers: ApiRequest['headers']

  constructor(request: ApiRequest, { headers, interceptor }: RequestOverrides) {
    this.#request = request
    this.#interceptor = interceptor
    this.headers = headers ?? request.headers
  }

  get method(): string {
    return this.#request.method
  }

  get path(): string {
    return this.#request.path
  }

  get query(): string {
    return this.#request.query
  }

  get peer(): ApiRequest['peer'] {
    return this.#request.peer
  }

  get signal(): AbortSignal {
    return this.#request.signal
  }

  get user(): ApiRequest['user'] {
    return this.#request.user
  }

  get decisions(): ApiRequest['decisions'] {
    return this.#request.decisions
  }

  get trace(): ApiRequest['trace'] {
    return this.#request.trace
  }

  get internal(): boolean | undefined {
    return this.#request.internal
  }

  get isBodyReceived(): boolean | undefined {
    return this.#request.isBodyReceived
  }

  get stream(): ApiRequest['stream'] {
    const request = this.#request
    if (request.stream === undefined) return undefined
    return () => {
      const chunks = (request.stream as NonNullable<ApiRequest['stream']>)()
      return this.#interceptor?.stream(chunks) ?? chunks
    }
  }

  get headersJoined(): boolean | undefined {
    return this.#request.headersJoined
  }

  get upgradable(): boolean | undefined {
    return this.#request.upgradable
  }

  readonly body = (limitBytes: number): Promise<Uint8Array> => {
    const body = this.#request.body(limitBytes)
    return this.#interceptor?.body(body) ?? body
  }
}
