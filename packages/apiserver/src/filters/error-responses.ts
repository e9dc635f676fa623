import type { ApiResponse } from '@krmkit/protocol'
import type { Filter, RequestContext } from '../request/context.ts'

/** Converts errors of the inner filters and handlers to responses, so that outer filters see the outcome of every request. */
export function errorResponses(toResponse: (context: RequestContext, error: unknown) => ApiResponse): Filter {
  return (context, next) => next(context).catch((error: unknown) => toResponse(context, error))
}
