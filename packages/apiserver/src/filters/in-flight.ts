import { ApiError } from '@krmkit/meta'
import { tooManyRequests } from '../encoding/response-writer.ts'
import { BodyPauses } from '../flow-control/body-pause'
import type { Filter } from '../request-context.ts'
import { isLongRunning, isMutating } from './long-running.ts'

export interface InFlightLimits {
  /** Reads at a time; 0 = no limit. */
  readonly readOnly: number
  /** Writes at a time; 0 = no limit. */
  readonly mutating: number
}

const exemptGroup = 'system:masters'

/**
 * Refuses with 429 and Retry-After when too many requests are being answered already. Administrators are exempt, and requests that last
 * as long as the client likes.
 *
 * Differs: a request whose body is still on its way does not count.
 */
export function inFlight(limits: InFlightLimits): Filter {
  const reads = new RequestCounter(limits.readOnly)
  const writes = new RequestCounter(limits.mutating)
  const pauses = new BodyPauses()
  return async (context, next) => {
    const { info, user } = context
    if (isLongRunning(info) || user.groups.includes(exemptGroup)) return next()
    const places = isMutating(info) ? writes : reads
    if (!places.tryAcquire()) return tooManyRequests(1)
    const pausable = pauses.attach(context, places)
    try {
      return await next()
    } finally {
      pausable?.end()
      if (pausable?.isPaused !== true) places.pause()
    }
  }
}

class RequestCounter {
  readonly #limit: number
  #count = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  tryAcquire(): boolean {
    if (this.#limit > 0 && this.#count >= this.#limit) return false
    this.#count++
    return true
  }

  pause(): void {
    this.#count--
  }

  resume(): undefined {
    if (!this.tryAcquire()) throw ApiError.tooManyRequests('Too many requests, please try again later.', 1)
  }
}
