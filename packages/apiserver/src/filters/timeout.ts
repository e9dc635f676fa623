import { ApiError, type Clock, MetaError } from '@krmkit/meta'
import { parseDurationMs } from '@krmkit/meta/time'
import type { ApiResponse } from '@krmkit/protocol'
import type { Filter } from '../request/context.ts'
import { isLongRunning } from '../request/long-running.ts'
import { text } from '../request/query.ts'

/**
 * Ends requests that exceed the time limit with 504, except watches and connections to pods and nodes. The `timeout` parameter may shorten
 * the limit; 0 means the full limit.
 */
export function timeout(limitMs: number, clock: Clock): Filter {
  return (context, next) => {
    if (isLongRunning(context.info)) return next(context)
    const requestedMs = parseTimeoutMs(text(context.query, 'timeout') ?? '')
    const ms = requestedMs > 0 ? Math.min(limitMs, requestedMs) : limitMs
    context.deadline = clock.now() + ms
    return new Promise<ApiResponse>((resolve, reject) => {
      const cancel = clock.setTimeout(() => {
        reject(ApiError.timeout(`request did not complete within the allotted timeout`))
      }, ms)
      next(context).then(
        (response) => {
          cancel()
          resolve(response)
        },
        (error: unknown) => {
          cancel()
          reject(error instanceof Error ? error : new Error(String(error)))
        },
      )
    })
  }
}

/** @throws ApiError 400 for an invalid duration. */
function parseTimeoutMs(value: string): number {
  if (value === '') return 0
  try {
    return parseDurationMs(value)
  } catch (error) {
    if (!(error instanceof MetaError)) throw error
    throw ApiError.badRequest(`invalid timeout specified in the request URL - ${error.message}`)
  }
}
