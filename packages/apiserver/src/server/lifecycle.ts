import { allowManyListeners } from '@krmkit/base/platform'
import { ApiError, type Clock, type Random } from '@krmkit/meta'
import type { ApiRequest, ApiResponse } from '@krmkit/protocol'
import { textResponse } from '../media/response-writer.ts'
import { header, IncomingRequest, type RequestContext } from '../request/context.ts'
import { parseRequestInfo } from '../request/info.ts'
import { flag, hasTooManyParameters, parseQuery } from '../request/query.ts'

/** How long `close` waits for requests in flight. */
const closeDeadlineMs = 10_000

/** Default for responses without a Cache-Control header. */
const uncached = { 'cache-control': 'no-cache, private' }

export interface LifecycleOptions {
  readonly clock: Clock
  readonly random: Pick<Random, 'uuid'>
  /** Directives of the Strict-Transport-Security header; empty: no header. */
  readonly strictTransportSecurity: readonly string[]
}

/**
 * Counts the requests in flight and ends them.
 *
 *     serving --close--> refusing new requests, ending watches --last response | deadline--> closed
 */
export class Lifecycle {
  readonly #controller = new AbortController()
  readonly #options: LifecycleOptions
  readonly #headers: Readonly<Record<string, string>>
  #active = 0
  #idle: (() => void) | undefined

  constructor(options: LifecycleOptions) {
    this.#options = options
    const { strictTransportSecurity: directives } = options
    this.#headers = directives.length === 0 ? uncached : { ...uncached, 'strict-transport-security': directives.join('; ') }
    // Every watch adds a listener.
    allowManyListeners(this.#controller.signal)
  }

  /** Aborts when the server closes. */
  get closing(): AbortSignal {
    return this.#controller.signal
  }

  /** Runs one request. `failed` turns errors into responses. */
  async handle(
    request: ApiRequest,
    run: (context: RequestContext) => Promise<ApiResponse>,
    failed: (context: RequestContext, error: unknown) => ApiResponse,
  ): Promise<ApiResponse> {
    if (hasTooManyParameters(request.query)) return textResponse(400, 'too many query parameters\n')
    const query = parseQuery(request.query)
    const info = parseRequestInfo(request.method, request.path, flag(query, 'watch'))
    if (info === undefined) return malformedPath()
    const { clock, random } = this.#options
    const auditId = givenAuditId(request) || random.uuid()
    const context = new IncomingRequest(request, { info, query, startedAt: clock.now(), auditId })
    this.#active++
    try {
      if (this.closing.aborted) throw ApiError.serviceUnavailable('the server is shutting down')
      return this.#withHeaders(context, await run(context))
    } catch (error) {
      return this.#withHeaders(context, failed(context, error))
    } finally {
      this.#active--
      if (this.#active === 0) this.#idle?.()
    }
  }

  /** Ends watches, refuses new requests, and waits for those in flight. */
  async close(): Promise<void> {
    this.#controller.abort()
    if (this.#active === 0) return
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.setTimeout(resolve, closeDeadlineMs)
      this.#idle = () => {
        cancel()
        resolve()
      }
    })
  }

  #withHeaders({ auditId, responseHeaders }: RequestContext, response: ApiResponse): ApiResponse {
    return { ...response, headers: { 'audit-id': auditId, ...this.#headers, ...responseHeaders, ...response.headers } }
  }
}

/** The response to a path that cannot be decoded; such a request reaches no filter. */
function malformedPath(): ApiResponse {
  const headers = { 'content-type': 'text/plain; charset=utf-8' }
  return { status: 400, headers, body: { kind: 'bytes', bytes: new TextEncoder().encode('400 Bad Request') } }
}

/** The Audit-ID that the client sent, without characters that a header must not contain; empty when absent. */
function givenAuditId(request: ApiRequest): string {
  const given = header(request, 'audit-id')
  return given === undefined ? '' : given.slice(0, 64).replace(/[^\w.:-]/g, '')
}
