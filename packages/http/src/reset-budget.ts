import { TokenBucket } from '@krmkit/meta/token-bucket'

/** Resets per second of one connection: twice the number of its concurrent streams. */
export const resetsPerSecond = 500

/**
 * Bounds how often a client resets the streams of one connection: a request that is reset at once occupies no stream, so the limit of
 * concurrent streams does not bound its work. Allows `resetsPerSecond`, and as many at once after a quiet second.
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
