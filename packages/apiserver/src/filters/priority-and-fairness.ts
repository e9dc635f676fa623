import { ApiError, type Clock } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { tooManyRequests } from '../encoding/response-writer.ts'
import { type BodyPause, BodyPauses, mayHaveBody, type Pausable } from '../flow-control/body-pause'
import type { FlowController, FlowSchemaState } from '../flow-control/flow-controller.ts'
import type { SeatRequest } from '../flow-control/seat-request.ts'
import type { Filter, RequestContext } from '../request-context.ts'
import { isLongRunning } from './long-running.ts'

export interface PriorityAndFairnessOptions {
  readonly clock: Clock
  /** Longest wait of a request without a deadline. */
  readonly waitMs: number
  /** Brings the controller up to date with the stored objects. */
  readonly refresh: () => void
}

/** Nothing waits longer, however late its deadline is. */
const maxQueueWaitMs = 60_000
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
  const parts = { controller, pauses, ...options }
  return (context, next) => {
    if (context.info.verb !== 'watch' && isLongRunning(context.info)) return next()
    options.refresh()
    const schema = controller.classify(context)
    context.flowHeaders = schema.headers
    const request = controller.start(context, schema)
    if (request === undefined) return Promise.resolve(tooManyRequests(schema.level.retryAfter.seconds))
    if (!request.executing) return serveQueued(new RequestExecution(parts, schema, request), context, next)
    if (context.info.verb !== 'watch' && !mayHaveBody(context.request.method))
      return serveImmediately(controller, schema, request, next)
    return new RequestExecution(parts, schema, request).serve(context, next)
  }
}

/** The usual case: nothing to wait for, neither seats nor a body. */
async function serveImmediately(
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

async function serveQueued(
  serving: RequestExecution,
  context: RequestContext,
  next: () => Promise<ApiResponse>,
): Promise<ApiResponse> {
  const served = await serving.wait(context)
  return served ? serving.serve(context, next) : serving.rejection()
}

interface ExecutionOptions extends PriorityAndFairnessOptions {
  readonly controller: FlowController
  readonly pauses: BodyPauses
}

/** A request on its way through its priority level. */
class RequestExecution implements Pausable {
  readonly #options: ExecutionOptions
  readonly #schema: FlowSchemaState
  readonly #request: SeatRequest
  #context: RequestContext | undefined

  constructor(parts: ExecutionOptions, schema: FlowSchemaState, request: SeatRequest) {
    this.#options = parts
    this.#schema = schema
    this.#request = request
  }

  /** Waits for seats. @returns whether there are some. */
  async wait(context: RequestContext): Promise<boolean> {
    const { controller, waitMs, clock } = this.#options
    const left = context.deadline === undefined ? waitMs : (context.deadline - clock.now()) / 4
    const options = { waitMs: Math.max(0, Math.min(maxQueueWaitMs, left)), signal: context.signal }
    return (await controller.wait(this.#request, this.#schema, options)) === 'execute'
  }

  rejection(): ApiResponse {
    return tooManyRequests(this.#schema.level.retryAfter.seconds)
  }

  async serve(context: RequestContext, next: () => Promise<ApiResponse>): Promise<ApiResponse> {
    this.#context = context
    if (context.info.verb === 'watch') return this.#serveWatch(context, next)
    const pausable = this.#options.pauses.attach(context, this)
    try {
      return await next()
    } finally {
      this.#end(pausable)
    }
  }

  pause(): void {
    this.#options.controller.pause(this.#request, this.#schema)
  }

  resume(): Promise<void> | undefined {
    const outcome = this.#options.controller.resume(this.#request, this.#schema)
    if (outcome === 'executing') return undefined
    if (outcome === 'rejected') throw this.#tooManyRequests()
    return this.wait(this.#context as RequestContext).then((served) => {
      if (!served) throw this.#tooManyRequests()
    })
  }

  /** Seats are held until the initial state has been handed on, if there is one. */
  async #serveWatch(context: RequestContext, next: () => Promise<ApiResponse>): Promise<ApiResponse> {
    let initialized = false
    let cancel: (() => void) | undefined
    const end = (): void => {
      if (initialized) return
      initialized = true
      cancel?.()
      this.#end(undefined)
    }
    context.watchInitialized = end
    try {
      const response = await next()
      if (response.body.kind !== 'stream') end()
      else if (!initialized) cancel = this.#options.clock.setTimeout(end, watchInitializationMs)
      return response
    } catch (error) {
      end()
      throw error
    }
  }

  #end(pausable: BodyPause | undefined): void {
    pausable?.end()
    if (pausable?.isPaused !== true) this.#options.controller.finish(this.#request, this.#schema)
  }

  #tooManyRequests(): ApiError {
    return ApiError.tooManyRequests('Too many requests, please try again later.', this.#schema.level.retryAfter.seconds)
  }
}
