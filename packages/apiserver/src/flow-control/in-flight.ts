import { ApiError } from '@krmkit/meta'
import { tooManyRequests } from '../media/response-writer.ts'
import type { Filter } from '../request/context.ts'
import { isLongRunning, isMutating } from '../request/long-running.ts'
import { BodyPauses } from './body-pause.ts'

export interface InFlightLimits {
  /** Maximum number of concurrent reads; 0: no limit. */
  readonly readOnly: number
  /** Maximum number of concurrent writes; 0: no limit. */
  readonly mutating: number
}

const exemptGroup = 'system:masters'

/**
 * Rejects requests above the limits with 429 and Retry-After. Members of `system:masters` and long-running requests are exempt.
 *
 * Differs: a request does not count while its body is being received.
 */
export function inFlight(limits: InFlightLimits): Filter {
  const reads = new RequestCounter(limits.readOnly)
  const writes = new RequestCounter(limits.mutating)
  const pauses = new BodyPauses()
  return async (context, next) => {
    const { info, user } = context
    if (isLongRunning(info) || user.groups.includes(exemptGroup)) return next(context)
    const counter = isMutating(info) ? writes : reads
    if (!counter.tryAcquire()) return tooManyRequests(1)
    const bodyPause = pauses.attach(context, counter)
    try {
      return await next(context)
    } finally {
      bodyPause?.end()
      if (bodyPause?.isPaused !== true) counter.pause()
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
