import { ApiError, type Clock } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { tooManyRequests } from '../media/response-writer.ts'
import type { Filter, NextFilter, RequestContext } from '../request/context.ts'
import { isLongRunning } from '../request/long-running.ts'
import { type BodyPause, BodyPauses, mayWaitForBody, type Pausable } from './body-pause.ts'
import type { FlowController, FlowSchemaState } from './flow-controller.ts'
import type { SeatRequest } from './seat-request.ts'

export interface PriorityAndFairnessOptions {
  readonly clock: Clock
  /** Maximum wait in a queue, for requests without a deadline. */
  readonly waitMs: number
  /** Applies pending changes of the stored configuration. */
  readonly refresh: () => void
}

/** Maximum wait in a queue, for any deadline. */
const maxQueueWaitMs = 60_000
/** Maximum time that a watch holds seats for its initial state, so that slow readers do not occupy seats. */
const watchInitializationMs = 5_000

/**
 * Serves requests within the seats of their priority level, with fair queuing. When no seat is free, a request waits or is rejected with
 * 429. Long-running requests are exempt; watches are exempt once their initial state has been sent.
 *
 * Differs: a request releases its seats while its body is being received.
 *
 * @see Kubernetes, "API Priority and Fairness"
 */
export function priorityAndFairness(controller: FlowController, options: PriorityAndFairnessOptions): Filter {
  const pauses = new BodyPauses()
  const execution = { controller, pauses, ...options }
  return (context, next) => {
    if (context.info.verb !== 'watch' && isLongRunning(context.info)) return next(context)
    options.refresh()
    const schema = controller.classify(context)
    context.responseHeaders = schema.headers
    const request = controller.start(context, schema)
    if (request === undefined) return Promise.resolve(tooManyRequests(schema.level.retryAfter.seconds))
    if (!request.executing) return serveQueued(new RequestExecution(execution, schema, request), context, next)
    if (context.info.verb !== 'watch' && !mayWaitForBody(context.request))
      return serveImmediately({ controller, schema, request }, context, next)
    return new RequestExecution(execution, schema, request).serve(context, next)
  }
}

/** The common case: seats are free and no body can arrive. */
async function serveImmediately(
  {
    controller,
    schema,
    request,
  }: { readonly controller: FlowController; readonly schema: FlowSchemaState; readonly request: SeatRequest },
  context: RequestContext,
  next: NextFilter,
): Promise<ApiResponse> {
  try {
    return await next(context)
  } finally {
    controller.finish(request, schema)
  }
}

async function serveQueued(execution: RequestExecution, context: RequestContext, next: NextFilter): Promise<ApiResponse> {
  const hasSeats = await execution.wait(context)
  return hasSeats ? execution.serve(context, next) : execution.rejection()
}

interface ExecutionOptions extends PriorityAndFairnessOptions {
  readonly controller: FlowController
  readonly pauses: BodyPauses
}

/** The execution of one request within its priority level. */
class RequestExecution implements Pausable {
  readonly #options: ExecutionOptions
  readonly #schema: FlowSchemaState
  readonly #request: SeatRequest
  #context: RequestContext | undefined

  constructor(options: ExecutionOptions, schema: FlowSchemaState, request: SeatRequest) {
    this.#options = options
    this.#schema = schema
    this.#request = request
  }

  /** Waits in the queue. @returns whether the request may execute. */
  async wait(context: RequestContext): Promise<boolean> {
    const { controller, waitMs, clock } = this.#options
    const allowedMs = context.deadline === undefined ? waitMs : (context.deadline - clock.now()) / 4
    const options = { waitMs: Math.max(0, Math.min(maxQueueWaitMs, allowedMs)), signal: context.signal }
    return (await controller.wait(this.#request, this.#schema, options)) === 'execute'
  }

  rejection(): ApiResponse {
    return tooManyRequests(this.#schema.level.retryAfter.seconds)
  }

  async serve(context: RequestContext, next: NextFilter): Promise<ApiResponse> {
    this.#context = context
    if (context.info.verb === 'watch') return this.#serveWatch(context, next)
    const bodyPause = this.#options.pauses.attach(context, this)
    try {
      return await next(context)
    } finally {
      this.#end(bodyPause)
    }
  }

  pause(): void {
    this.#options.controller.pause(this.#request, this.#schema)
  }

  resume(): Promise<void> | undefined {
    const outcome = this.#options.controller.resume(this.#request, this.#schema)
    if (outcome === 'executing') return undefined
    if (outcome === 'rejected') throw this.#tooManyRequests()
    return this.wait(this.#context as RequestContext).then((hasSeats) => {
      if (!hasSeats) throw this.#tooManyRequests()
    })
  }

  /** Holds seats until the initial state of the watch, if any, has been sent. */
  async #serveWatch(context: RequestContext, next: NextFilter): Promise<ApiResponse> {
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
      const response = await next(context)
      if (response.body.kind !== 'stream') end()
      else if (!initialized) cancel = this.#options.clock.setTimeout(end, watchInitializationMs)
      return response
    } catch (error) {
      end()
      throw error
    }
  }

  #end(bodyPause: BodyPause | undefined): void {
    bodyPause?.end()
    if (bodyPause?.isPaused !== true) this.#options.controller.finish(this.#request, this.#schema)
  }

  #tooManyRequests(): ApiError {
    return ApiError.tooManyRequests('Too many requests, please try again later.', this.#schema.level.retryAfter.seconds)
  }
}
