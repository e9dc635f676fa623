import type { ApiRequest } from '@krmkit/protocol'

/** What differs from the original. */
export interface RequestOverrides {
  readonly headers?: ApiRequest['headers']
  /** Makes other readers of the body out of the original's. */
  readonly bodyReader?: BodyInterceptor
}

export interface BodyInterceptor {
  body(read: Promise<Uint8Array>): Promise<Uint8Array>
  stream(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
}

/** The same request with other headers, or with its body read in another way. */
export class DerivedRequest implements ApiRequest {
  readonly #request: ApiRequest
  readonly #interceptor: BodyInterceptor | undefined
  readonly headers: ApiRequest['headers']

  constructor(request: ApiRequest, { headers, bodyReader: reading }: RequestOverrides) {
    this.#request = request
    this.#interceptor = reading
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

  get stream(): ApiRequest['stream'] {
    const request = this.#request
    if (request.stream === undefined) return undefined
    return () => {
      const pieces = (request.stream as NonNullable<ApiRequest['stream']>)()
      return this.#interceptor?.stream(pieces) ?? pieces
    }
  }

  get headersJoined(): boolean | undefined {
    return this.#request.headersJoined
  }

  get upgradable(): boolean | undefined {
    return this.#request.upgradable
  }

  readonly body = (limitBytes: number): Promise<Uint8Array> => {
    const read = this.#request.body(limitBytes)
    return this.#interceptor?.body(read) ?? read
  }
}
