import type { ApiResponse } from '@krmkit/protocol'
import type { Filter, RequestContext } from '../request/context.ts'

/**
 * Converts errors of the rest of the chain to responses, so that preceding filters see the outcome of every request, rejected or not.
 */
export function errorResponses(toResponse: (context: RequestContext, error: unknown) => ApiResponse): Filter {
  return (context, next) => next(context).catch((error: unknown) => toResponse(context, error))
}
