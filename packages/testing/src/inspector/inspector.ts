import { type Clock, systemClock } from '@krmkit/meta'
import { utf8Bytes } from '@krmkit/meta/bytes'
import type { ApiRequest, ApiResponse, Handler } from '@krmkit/protocol'
import { Ledger } from '../ledger.ts'
import { requestAttributes } from '../request-attributes.ts'
import { RequestRecorder } from '../request-recorder.ts'
import { inspectRequests } from './inspect.ts'

export interface InspectorOptions {
  /** Path of the page. Default `/debug/inspector`. */
  readonly path?: string
  /** Number of newest requests whose decision trace is kept. Default 2000. */
  readonly traces?: number
  /** Default: the system clock. */
  readonly clock?: Clock
}

/** Number of requests that the page shows. */
const shownRequests = 10_000

/**
 * Records the requests to a server, and serves the page of `inspect` at a path. The server authorizes requests to the path like those to
 * other paths without a resource: users need the verb `get` for the non-resource URL. The page contains what the requests contained.
 *
 * @example
 * import { createApiServer } from '@krmkit/apiserver'
 * import { listen } from '@krmkit/http'
 * import { memoryStorage } from '@krmkit/storage'
 * import { withInspector } from '@krmkit/testing'
 * const server = await createApiServer({ storage: memoryStorage() })
 * const listener = await listen({ handle: withInspector(server.handle) }, { tls: false })
 * console.log(`${listener.url}/debug/inspector`)
 */
export function withInspector(handle: Handler, options: InspectorOptions = {}): Handler {
  const { path = '/debug/inspector', traces, clock = systemClock } = options
  const ledger = new Ledger(shownRequests, traces)
  return async (request) => {
    if (request.path === path && request.method === 'GET') {
      const response = await handle(request)
      // The server has authorized the request, and knows no such path.
      return response.status === 404 ? page(ledger) : response
    }
    const recorder = new RequestRecorder(request)
    try {
      const response = await handle(recorder.request)
      record(ledger, { request, recorder, response, clock })
      return response
    } catch (error) {
      record(ledger, { request, recorder, response: undefined, clock })
      throw error
    }
  }
}

interface Recorded {
  readonly request: ApiRequest
  readonly recorder: RequestRecorder
  /** Undefined where the request was dropped. */
  readonly response: ApiResponse | undefined
  readonly clock: Clock
}

function record(ledger: Ledger, { request, recorder, response, clock }: Recorded): void {
  const recorded = recorder.end(response)
  const user = recorded.trace?.authentication?.user.username ?? request.user?.username ?? ''
  const agent = request.headers['user-agent']
  ledger.record({
    ...requestAttributes(request),
    ...recorded,
    user,
    isController: user.startsWith('system:') && !user.startsWith('system:serviceaccount:') && user !== 'system:anonymous',
    code: response?.status ?? 0,
    atMs: clock.now(),
    userAgent: typeof agent === 'string' ? agent : (agent?.[0] ?? ''),
  })
}

function page(ledger: Ledger): ApiResponse {
  const bytes = utf8Bytes(inspectRequests(ledger.entries))
  const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' }
  return { status: 200, headers, body: { kind: 'bytes', bytes } }
}
