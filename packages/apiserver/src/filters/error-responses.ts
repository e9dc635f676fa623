import type { ApiResponse } from '@krmkit/protocol'
import type { Filter, RequestContext } from '../request-context.ts'

/**
 * Turns what the rest of the chain throws into an answer, so that the filters before it see how the request ended, whether it
 * was refused or answered.
 */
export function errorResponses(answer: (context: RequestContext, error: unknown) => ApiResponse): Filter {
  return async (context, next) => {
    try {
      return await next()
    } catch (error) {
      return answer(context, error)
    }
  }
}
