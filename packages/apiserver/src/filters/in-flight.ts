import { ApiError } from '@krmkit/meta'
import { tooManyRequests } from '../encoding/response-writer.ts'
import { BodyPauses } from '../flow-control/body-pauses.ts'
import type { Filter } from '../request-context.ts'
import { isLongRunning, isMutating } from './long-running.ts'

export interface InFlightLimits {
  /** Reads at a time; 0 = no limit. */
  readonly readOnly: number
  /** Writes at a time; 0 = no limit. */
  readonly mutating: number
}

const administrators = 'system:masters'

/**
 * Refuses with 429 and Retry-After when too many requests are being answered already. Administrators are exempt, and requests that last
 * as long as the client likes.
 *
 * Differs: a request whose body is still on its way does not count.
 */
export function inFlight(limits: InFlightLimits): Filter {
  const reads = new Places(limits.readOnly)
  const writes = new Places(limits.mutating)
  const pauses = new BodyPauses()
  return async (context, next) => {
    const { info, user } = context
    if (isLongRunning(info) || user.groups.includes(administrators)) return next()
    const places = isMutating(info) ? writes : reads
    if (!places.take()) return tooManyRequests(1)
    const pausable = pauses.attach(context, places)
    try {
      return await next()
    } finally {
      pausable?.end()
      if (pausable?.isPaused !== true) places.pause()
    }
  }
}

class Places {
  readonly #limit: number
  #taken = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  take(): boolean {
    if (this.#limit > 0 && this.#taken >= this.#limit) return false
    this.#taken++
    return true
  }

  pause(): void {
    this.#taken--
  }

  resume(): undefined {
    if (!this.take()) throw ApiError.tooManyRequests('Too many requests, please try again later.', 1)
  }
}
