import { ApiError, type Clock } from '@krmkit/meta'
import type { ApiResponse } from '../interfaces.ts'
import { text } from '../query.ts'
import type { Filter } from '../request-state.ts'

/**
 * Ends requests that take too long with 504. Watches bound themselves. A `timeout` parameter may shorten the limit.
 */
export function timeout(limitMs: number, clock: Clock): Filter {
  return async (state, next) => {
    if (state.info.verb === 'watch') return next()
    const asked = text(state.query, 'timeout')
    const ms = asked === undefined ? limitMs : Math.min(limitMs, durationMs(asked))
    return new Promise<ApiResponse>((resolve, reject) => {
      const cancel = clock.setTimeout(() => {
        reject(ApiError.timeout(`request did not complete within the allotted timeout`))
      }, ms)
      next().then(
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

function durationMs(value: string): number {
  const parts = /^([0-9]{1,9})(ms|s|m|h)?$/.exec(value)
  if (parts === null)
    throw ApiError.badRequest(`invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(value)}`)
  const unit = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }[parts[2] ?? 's'] ?? 1_000
  return Number(parts[1]) * unit
}
