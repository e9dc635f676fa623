import { ApiError, type Clock } from '@krmkit/meta'
import { BodyPauses, mayHaveBody, type PausablePlace, type Place } from '../flow-control/body-pauses.ts'
import type { FlowController, FlowSchemaState } from '../flow-control/flow-controller.ts'
import type { SeatRequest } from '../flow-control/seat-request.ts'
import type { ApiResponse } from '../interfaces.ts'
import type { Filter, RequestContext } from '../request-context.ts'
import { tooManyRequests } from '../responses.ts'
import { isLongRunning } from './long-running.ts'

export interface PriorityAndFairnessOptions {
  readonly clock: Clock
  /** Longest wait of a request without a deadline. */
  readonly waitMs: number
  /** Brings the controller up to date with the stored objects. */
  readonly refresh: () => void
}

/** Nothing waits longer, however late its deadline is. */
const longestWaitMs = 60_000
/** Longest time that a watch holds seats for its initial state: a slow reader holds none. */
const watchInitializationMs = 5_000

/**
 * Serves requests as their priority level has seats, in fair turns; others wait or get 429. Requests that last as long as the client
 * likes are exempt, watches from the moment when their initial state has been handed on.
 *
 * Differs: a request gives its seats back while its body is on the way.
 *
 * @see Kubernetes, "API Priority and Fairness"
 */
export function priorityAndFairness(controller: FlowController, options: PriorityAndFairnessOptions): Filter {
  const pauses = new BodyPauses()
  const context = { controller, pauses, ...options }
  return (state, next) => {
    if (state.info.verb !== 'watch' && isLongRunning(state.info)) return next()
    options.refresh()
    const schema = controller.classify(state)
    state.flowHeaders = schema.headers
    const request = controller.start(state, schema)
    if (request === undefined) return Promise.resolve(tooManyRequests(schema.level.retryAfter.seconds))
    if (!request.executing) return serveInTurn(new Serving(context, schema, request), state, next)
    if (state.info.verb !== 'watch' && !mayHaveBody(state.request.method)) return serveAtOnce(controller, schema, request, next)
    return new Serving(context, schema, request).serve(state, next)
  }
}

/** The usual case: nothing to wait for, neither seats nor a body. */
async function serveAtOnce(
  controller: FlowController,
  schema: FlowSchemaState,
  request: SeatRequest,
  next: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  try {
    return await next()
  } finally {
    controller.finish(request, schema)
  }
}

async function serveInTurn(serving: Serving, state: RequestContext, next: () => Promise<ApiResponse>): Promise<ApiResponse> {
  const served = await serving.wait(state)
  return served ? serving.serve(state, next) : serving.refused()
}

interface ServingContext extends PriorityAndFairnessOptions {
  readonly controller: FlowController
  readonly pauses: BodyPauses
}

/** A request on its way through its priority level. */
class Serving implements Place {
  readonly #context: ServingContext
  readonly #schema: FlowSchemaState
  readonly #request: SeatRequest
  #state: RequestContext | undefined

  constructor(context: ServingContext, schema: FlowSchemaState, request: SeatRequest) {
    this.#context = context
    this.#schema = schema
    this.#request = request
  }

  /** Waits for seats. @returns whether there are some. */
  async wait(state: RequestContext): Promise<boolean> {
    const { controller, waitMs, clock } = this.#context
    const left = state.deadline === undefined ? waitMs : (state.deadline - clock.now()) / 4
    const options = { waitMs: Math.max(0, Math.min(longestWaitMs, left)), signal: state.signal }
    return (await controller.wait(this.#request, this.#schema, options)) === 'execute'
  }

  refused(): ApiResponse {
    return tooManyRequests(this.#schema.level.retryAfter.seconds)
  }

  async serve(state: RequestContext, next: () => Promise<ApiResponse>): Promise<ApiResponse> {
    this.#state = state
    if (state.info.verb === 'watch') return this.#serveWatch(state, next)
    const pausable = this.#context.pauses.attach(state, this)
    try {
      return await next()
    } finally {
      this.#end(pausable)
    }
  }

  pause(): void {
    this.#context.controller.pause(this.#request, this.#schema)
  }

  resume(): Promise<void> | undefined {
    const outcome = this.#context.controller.resume(this.#request, this.#schema)
    if (outcome === 'executing') return undefined
    if (outcome === 'rejected') throw this.#tooMany()
    return this.wait(this.#state as RequestContext).then((served) => {
      if (!served) throw this.#tooMany()
    })
  }

  /** Seats are held until the initial state has been handed on, if there is one. */
  async #serveWatch(state: RequestContext, next: () => Promise<ApiResponse>): Promise<ApiResponse> {
    let initialized = false
    let cancel: (() => void) | undefined
    const end = (): void => {
      if (initialized) return
      initialized = true
      cancel?.()
      this.#end(undefined)
    }
    state.watchInitialized = end
    try {
      const response = await next()
      if (response.body.kind !== 'stream') end()
      else if (!initialized) cancel = this.#context.clock.setTimeout(end, watchInitializationMs)
      return response
    } catch (error) {
      end()
      throw error
    }
  }

  #end(pausable: PausablePlace | undefined): void {
    pausable?.end()
    if (pausable?.isPaused !== true) this.#context.controller.finish(this.#request, this.#schema)
  }

  #tooMany(): ApiError {
    return ApiError.tooManyRequests('Too many requests, please try again later.', this.#schema.level.retryAfter.seconds)
  }
}
