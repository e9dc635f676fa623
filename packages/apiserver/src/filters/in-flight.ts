import { ApiError } from '@krmkit/meta'
import type { Filter } from '../request-state.ts'

export interface InFlightLimits {
  /** Reads at a time; 0 = no limit. */
  readonly readOnly: number
  /** Writes at a time; 0 = no limit. */
  readonly mutating: number
}

const mutatingVerbs = new Set(['create', 'update', 'patch', 'delete', 'deletecollection', 'post', 'put'])

/**
 * Refuses with 429 and Retry-After when too many requests are being answered already. Watches do not count: they live long
 * and cost nothing while nothing happens.
 *
 * Differs: it stands before authentication, so that refusing costs next to nothing, and nobody is exempt.
 */
export function inFlight(limits: InFlightLimits): Filter {
  let readOnly = 0
  let mutating = 0
  return async (state, next) => {
    if (state.info.verb === 'watch') return next()
    const writes = mutatingVerbs.has(state.info.verb)
    const limit = writes ? limits.mutating : limits.readOnly
    if (limit > 0 && (writes ? mutating : readOnly) >= limit) {
      throw ApiError.tooManyRequests('Too many requests, please try again later.', 1)
    }
    if (writes) mutating++
    else readOnly++
    try {
      return await next()
    } finally {
      if (writes) mutating--
      else readOnly--
    }
  }
}
