import type { ApiResponse } from '@krmkit/protocol'
import type { Filter, RequestContext } from '../request-context.ts'

/**
 * Converts errors of the rest of the chain to responses, so that preceding filters see the outcome of every request, rejected or not.
 */
export function errorResponses(toResponse: (context: RequestContext, error: unknown) => ApiResponse): Filter {
  return async (context, next) => {
    try {
      return await next()
    } catch (error) {
      return toResponse(context, error)
    }
  }
}
