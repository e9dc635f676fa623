/** Resets per second of one connection: twice the number of its concurrent streams. */
export const resetsPerSecond = 500

/**
 * Bounds how often a client resets the streams of one connection: a request that is reset at once occupies no stream, so the limit of
 * concurrent streams does not bound its work. Allows `resetsPerSecond`, and as many at once after a quiet second.
 */
export class ResetBudget {
  readonly #now: () => number
  #left = resetsPerSecond
  #chargedAtMs: number

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
    this.#chargedAtMs = now()
  }

  /** Whether the client has exceeded the limit. Stays true. */
  get isExceeded(): boolean {
    return this.#left < 0
  }

  /** Charges one reset. */
  charge(): void {
    if (this.isExceeded) return
    const nowMs = this.#now()
    this.#left = Math.min(resetsPerSecond, this.#left + ((nowMs - this.#chargedAtMs) / 1000) * resetsPerSecond) - 1
    this.#chargedAtMs = nowMs
  }
}
