import { TokenBucket } from '@krmkit/base/token-bucket'

/** Maximum number of resets per second on one connection: twice the number of its concurrent streams. */
export const resetsPerSecond = 500

/**
 * Bounds the rate at which a client resets the streams of one connection. A request that is reset at once occupies no stream, so the limit
 * of concurrent streams does not bound the work for such requests. Allows `resetsPerSecond`, also as a burst after a quiet second.
 */
export class ResetBudget {
  readonly #bucket: TokenBucket
  #isExceeded = false

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#bucket = new TokenBucket({ perSecond: resetsPerSecond, burst: resetsPerSecond }, { now })
  }

  /** Whether the client has exceeded the limit. Stays true. */
  get isExceeded(): boolean {
    return this.#isExceeded
  }

  /** Charges one reset. */
  charge(): void {
    this.#isExceeded ||= !this.#bucket.take()
  }
}
