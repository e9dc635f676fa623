import { ClientError } from '@krmkit/client'
import type { Clock, StatusReason } from '@krmkit/meta'
import type { ApiBody, ApiResponse } from '@krmkit/protocol'
import type { RequestAttributes } from './request-attributes.ts'
import { type Match, matches } from './request-match.ts'

/**
 * A fault of a request.
 *
 * - `fail`: responds with this status without calling the server.
 * - `delayMs`: delays the request, on the clock of the test.
 * - `lose`: processes the request but loses the response.
 * - `unreachable`: drops the request.
 */
export type Fault =
  | {
      readonly fail: number
      readonly reason?: StatusReason
      readonly message?: string
      readonly retryAfterSeconds?: number
    }
  | { readonly delayMs: number }
  | { readonly lose: true }
  | { readonly unreachable: true }

export interface FaultOptions {
  /** Number of requests that fail. Default 1. */
  readonly times?: number
  /** Number of matching requests to skip first. Default 0. */
  readonly after?: number
}

interface PlannedFault {
  readonly match: Match
  readonly fault: Fault
  after: number
  times: number
}

interface ClassifiedRequest extends RequestAttributes {
  readonly user: string
  readonly isController: boolean
}

export interface ApplyOptions {
  /** Passes the request to the server. */
  readonly next: (signal: AbortSignal) => Promise<ApiResponse>
  readonly signal: AbortSignal
  /** Wraps waits for the clock. */
  readonly suspend: <T>(wait: Promise<T>) => Promise<T>
}

/** Abort reason of a dropped connection. A shared object is cheaper than the default reason. */
export const connectionDropped = new ClientError({ code: 'Unreachable', message: 'a fault of the test dropped the connection' })

/** Injects faults. Requests and watches of controllers are spared unless `user` names them. */
export class Faults {
  readonly #clock: Clock
  readonly #watches = new Map<AbortController, ClassifiedRequest>()
  #planned: PlannedFault[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Plans a fault for the next matching request. @returns a function that cancels it */
  next(match: Match, fault: Fault, options: FaultOptions = {}): () => void {
    const { times = 1, after = 0 } = options
    const planned: PlannedFault = { match, fault, times, after }
    this.#planned.push(planned)
    return () => {
      this.#planned = this.#planned.filter((each) => each !== planned)
    }
  }

  /** Interrupts matching open watches, like a lost connection. @returns their number */
  dropWatches(match: Match = {}): number {
    const matching = [...this.#watches].filter(([, request]) => matches(match, request))
    for (const [cut] of matching) cut.abort(connectionDropped)
    return matching.length
  }

  /** Number of faults that have not occurred yet. */
  get pending(): number {
    return this.#planned.reduce((sum, { times }) => sum + times, 0)
  }

  /** Cancels all planned faults. */
  clear(): void {
    this.#planned = []
  }

  /** Called by the server: sends a request with its fault, if any. */
  async apply(request: ClassifiedRequest, options: ApplyOptions): Promise<ApiResponse> {
    const fault = this.#takeFault(request)
    if (fault !== undefined && 'fail' in fault) return failedResponse(fault)
    if (fault !== undefined && 'delayMs' in fault) await options.suspend(this.#delay(fault.delayMs, options.signal))
    if (fault === undefined || 'delayMs' in fault) {
      return request.verb === 'watch' && !request.isController ? this.#watch(request, options) : options.next(options.signal)
    }
    if ('lose' in fault) await options.next(options.signal)
    throw connectionDropped
  }

  #takeFault(request: ClassifiedRequest): Fault | undefined {
    for (const planned of this.#planned) {
      if (request.isController && planned.match.user === undefined) continue
      if (!matches(planned.match, request)) continue
      if (planned.after > 0) {
        planned.after--
        continue
      }
      if (--planned.times === 0) this.#planned = this.#planned.filter((each) => each !== planned)
      return planned.fault
    }
    return undefined
  }

  #delay(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        cancel()
        signal.removeEventListener('abort', done)
        resolve()
      }
      const cancel = this.#clock.setTimeout(done, ms)
      signal.addEventListener('abort', done, { once: true })
      if (signal.aborted) done()
    })
  }

  /** Registers a watch for `dropWatches`. */
  async #watch(request: ClassifiedRequest, options: ApplyOptions): Promise<ApiResponse> {
    const cut = new AbortController()
    const onAbort = () => cut.abort(connectionDropped)
    const unregister = () => {
      this.#watches.delete(cut)
      options.signal.removeEventListener('abort', onAbort)
    }
    options.signal.addEventListener('abort', onAbort, { once: true })
    if (options.signal.aborted) onAbort()
    this.#watches.set(cut, request)
    try {
      const response = await options.next(cut.signal)
      if (response.body.kind === 'stream') {
        const stream = notifyEnd(response.body.stream, unregister)
        return { ...response, body: { kind: 'stream', stream } }
      }
      unregister()
      return response
    } catch (error) {
      unregister()
      throw error
    }
  }
}

async function* notifyEnd(stream: AsyncIterable<Uint8Array>, onEnd: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* stream
  } finally {
    onEnd()
  }
}

function failedResponse(fault: Extract<Fault, { fail: number }>): ApiResponse {
  const { fail: code, reason, message = 'a fault of the test', retryAfterSeconds } = fault
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    ...(reason === undefined ? {} : { reason }),
    ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
    code,
  }
  const body: ApiBody = { kind: 'bytes', bytes: new TextEncoder().encode(JSON.stringify(status)) }
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds)
  return { status: code, headers, body }
}
