import { ClientError } from '@krmkit/client'
import type { Clock, StatusReason } from '@krmkit/meta'
import type { ApiBody, ApiResponse } from '@krmkit/protocol'
import type { RequestInfo } from './request-info.ts'
import { type Match, matches } from './request-match.ts'

/**
 * What goes wrong. `fail`: the server is not asked and this is the answer. `delayMs`: the server is asked this much later,
 * by the clock of the test. `lose`: the server does what was asked, but the answer is lost. `unreachable`: neither.
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
  /** Requests that it happens to. Default 1. */
  readonly times?: number
  /** Matching requests that are left alone first. Default 0. */
  readonly after?: number
}

interface PlannedFault {
  readonly match: Match
  readonly fault: Fault
  after: number
  times: number
}

interface ClassifiedRequest extends RequestInfo {
  readonly user: string
  readonly isController: boolean
}

export interface ApplyOptions {
  /** Where a request goes when nothing is wrong. */
  readonly next: (signal: AbortSignal) => Promise<ApiResponse>
  readonly signal: AbortSignal
  /** Wraps waits for the clock. */
  readonly suspend: <T>(wait: Promise<T>) => Promise<T>
}

/** Why a watch ended; a reason of our own is cheaper than the one that is made without. */
const dropped = new ClientError({ code: 'Unreachable', message: 'a fault of the test cut the connection' })

/** Makes requests fail on demand. Those of controllers are left alone, unless `user` names them, and so are their watches. */
export class Faults {
  readonly #clock: Clock
  readonly #watches = new Map<AbortController, ClassifiedRequest>()
  #planned: PlannedFault[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Plans a fault for the next request that matches. Returns how to call it off. */
  next(match: Match, fault: Fault, options: FaultOptions = {}): () => void {
    const { times = 1, after = 0 } = options
    const planned: PlannedFault = { match, fault, times, after }
    this.#planned.push(planned)
    return () => {
      this.#planned = this.#planned.filter((each) => each !== planned)
    }
  }

  /** Ends the watches that are open and match, as a broken connection would. Returns how many. */
  dropWatches(match: Match = {}): number {
    const found = [...this.#watches].filter(([, request]) => matches(match, request))
    for (const [cut] of found) cut.abort(dropped)
    return found.length
  }

  /** How many faults have not happened yet. */
  get pending(): number {
    return this.#planned.reduce((sum, { times }) => sum + times, 0)
  }

  /** Calls everything off. */
  clear(): void {
    this.#planned = []
  }

  /** For the server: sends a request the way the plan wants. */
  async apply(request: ClassifiedRequest, options: ApplyOptions): Promise<ApiResponse> {
    const fault = this.#take(request)
    if (fault !== undefined && 'fail' in fault) return failure(fault)
    if (fault !== undefined && 'delayMs' in fault) await options.suspend(this.#pause(fault.delayMs, options.signal))
    if (fault === undefined || 'delayMs' in fault) {
      return request.verb === 'watch' && !request.isController ? this.#watch(request, options) : options.next(options.signal)
    }
    if ('lose' in fault) await options.next(options.signal)
    throw dropped
  }

  #take(request: ClassifiedRequest): Fault | undefined {
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

  #pause(ms: number, signal: AbortSignal): Promise<void> {
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

  /** Gives a watch an end of its own, which `dropWatches` can bring about. */
  async #watch(request: ClassifiedRequest, options: ApplyOptions): Promise<ApiResponse> {
    const cut = new AbortController()
    const follow = () => cut.abort(dropped)
    const forget = () => {
      this.#watches.delete(cut)
      options.signal.removeEventListener('abort', follow)
    }
    options.signal.addEventListener('abort', follow, { once: true })
    if (options.signal.aborted) follow()
    this.#watches.set(cut, request)
    try {
      const response = await options.next(cut.signal)
      if (response.body.kind === 'stream') {
        const stream = untilEnd(response.body.stream, forget)
        return { ...response, body: { kind: 'stream', stream } }
      }
      forget()
      return response
    } catch (error) {
      forget()
      throw error
    }
  }
}

async function* untilEnd(stream: AsyncIterable<Uint8Array>, ended: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* stream
  } finally {
    ended()
  }
}

function failure(fault: Extract<Fault, { fail: number }>): ApiResponse {
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
