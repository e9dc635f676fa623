import type { TimeSource } from './interfaces.ts'

/** A rate limit: `burst` events at once, then `perSecond` events per second. */
export interface RateLimit {
  readonly perSecond: number
  readonly burst: number
}

/**
 * Limits a rate. Callers reserve a token and wait for it on their own clock.
 *
 * @example
 * import { fakeClock } from '@krmkit/meta'
 * import { TokenBucket } from '@krmkit/base/token-bucket'
 * const bucket = new TokenBucket({ perSecond: 10, burst: 1 }, fakeClock())
 * bucket.reserve() // 0
 * bucket.reserve() // 100
 */
export class TokenBucket {
  readonly #limit: RateLimit
  readonly #clock: Pick<TimeSource, 'now'>
  #left: number
  #countedAt: number

  constructor(limit: RateLimit, clock: Pick<TimeSource, 'now'>) {
    this.#limit = limit
    this.#clock = clock
    this.#left = limit.burst
    this.#countedAt = clock.now()
  }

  /** Reserves the next token. @returns milliseconds until the token is available; 0 if it is available now. */
  reserve(): number {
    this.#refill()
    this.#left--
    return this.#left >= 0 ? 0 : (-this.#left / this.#limit.perSecond) * 1000
  }

  /** Takes a token if one is available now. @returns whether a token was taken */
  take(): boolean {
    this.#refill()
    if (this.#left < 1) return false
    this.#left--
    return true
  }

  #refill(): void {
    const { perSecond, burst } = this.#limit
    const now = this.#clock.now()
    this.#left = Math.min(burst, this.#left + (Math.max(0, now - this.#countedAt) / 1000) * perSecond)
    this.#countedAt = now
  }
}
