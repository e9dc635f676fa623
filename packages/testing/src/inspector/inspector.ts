import { utf8Bytes } from '@krmkit/base/bytes'
import { createTurns, Pace, runPaced } from '@krmkit/base/work'
import type { ControllerRun } from '@krmkit/controllers'
import { type Clock, systemClock } from '@krmkit/meta'
import type { ApiRequest, ApiResponse, Handler } from '@krmkit/protocol'
import { Ledger } from '../ledger.ts'
import { requestAttributes } from '../request-attributes.ts'
import { RequestRecorder } from '../request-recorder.ts'
import { pageParts, pagePolicy } from './page.ts'
import { buildReport } from './report.ts'
import { charactersOf } from './short-texts.ts'

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
/** Bytes of the requests and objects that are kept for the page. */
const traceBytes = 64 * 1024 * 1024

/**
 * Records the requests to a server, and serves the page of `inspect` at a path. The server authorizes requests to the path
 * like those to other paths without a resource: users need the verb `get` for the non-resource URL. The page contains the
 * content of requests, except the values of Secrets and credentials in queries. Objects above 32 KiB are not shown, and
 * older requests only within the size limit.
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
  return new Inspector(options).wrap(handle)
}

/**
 * Records requests to a server and runs of its controllers, and serves the page of `inspect` at a path.
 *
 * @see {@link withInspector} for who may see the page
 * @example
 * import { createApiServer } from '@krmkit/apiserver'
 * import { createInProcessClient } from '@krmkit/client'
 * import { runControllers } from '@krmkit/controllers'
 * import { memoryStorage } from '@krmkit/storage'
 * import { Inspector } from '@krmkit/testing'
 * const inspector = new Inspector()
 * const server = await createApiServer({ storage: memoryStorage() })
 * const handle = inspector.wrap(server.handle)
 * const user = { username: 'system:kube-controller-manager', groups: ['system:masters'] }
 * await using running = runControllers({ client: createInProcessClient(handle, { user }), onRun: inspector.onRun })
 */
export class Inspector {
  readonly #path: string
  readonly #clock: Clock
  readonly #ledger: Ledger

  constructor({ path = '/debug/inspector', traces, clock = systemClock }: InspectorOptions = {}) {
    this.#path = path
    this.#clock = clock
    this.#ledger = new Ledger(shownRequests, traces, traceBytes)
  }

  /** Pass it as option `onRun` of `runControllers`. */
  readonly onRun = (run: ControllerRun): void => this.#ledger.recordRun(run, { isController: true })

  /** Adds the page to a handler, and records its other requests. */
  wrap(handle: Handler): Handler {
    return async (request) => {
      if (request.path === this.#path && request.method === 'GET') {
        const response = await handle(request)
        // The server authorized the request and does not serve the path.
        return response.status === 404 ? page(this.#ledger, request.signal) : response
      }
      const recorder = new RequestRecorder(request)
      const recorded = { request, recorder, clock: this.#clock }
      try {
        const response = await handle(recorder.request)
        record(this.#ledger, { ...recorded, response })
        return response
      } catch (error) {
        record(this.#ledger, { ...recorded, response: undefined })
        throw error
      }
    }
  }
}

interface Recorded {
  readonly request: ApiRequest
  readonly recorder: RequestRecorder
  /** Undefined if the request was dropped. */
  readonly response: ApiResponse | undefined
  readonly clock: Clock
}

function record(ledger: Ledger, { request, recorder, response, clock }: Recorded): void {
  const recorded = recorder.end(response)
  const user = recorded.trace?.authentication?.user.username ?? request.user?.username ?? ''
  const agent = request.headers['user-agent']
  const written = (recorded.trace?.writes ?? []).reduce((sum, { after }) => sum + charactersOf(after), 0)
  const entry = {
    ...requestAttributes(request),
    ...recorded,
    user,
    isController: user.startsWith('system:') && !user.startsWith('system:serviceaccount:') && user !== 'system:anonymous',
    code: response?.status ?? 0,
    atMs: clock.now(),
    userAgent: typeof agent === 'string' ? agent : (agent?.[0] ?? ''),
  }
  ledger.record(entry, (recorded.requestBytes ?? 0) + written)
}

const turns = createTurns()
/** Number of characters sent in one chunk. */
const chunkCharacters = 64 * 1024

function page(ledger: Ledger, signal: AbortSignal): ApiResponse {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    // Unlike the policy in the page, a header can forbid frames.
    'content-security-policy': `${pagePolicy()}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'x-content-type-options': 'nosniff',
  }
  return { status: 200, headers, body: { kind: 'stream', stream: pageStream(ledger, signal) } }
}

/** Renders the page in time slices, until the client disconnects. */
async function* pageStream(ledger: Ledger, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const pace = new Pace(turns)
  const report = await runPaced(interruptible(buildReport(ledger), signal), pace)
  let text = ''
  for (const part of pageParts(report)) {
    text += part
    if (text.length >= chunkCharacters) {
      yield utf8Bytes(text)
      text = ''
    }
    if (pace.due()) await pace.next()
  }
  yield utf8Bytes(text)
}

function* interruptible<T>(work: Generator<true, T>, signal: AbortSignal): Generator<true, T> {
  for (;;) {
    signal.throwIfAborted()
    const { done, value } = work.next()
    if (done === true) return value
    yield value
  }
}
