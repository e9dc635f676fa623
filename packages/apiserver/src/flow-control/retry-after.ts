const maxSeconds = 32

/**
 * The Retry-After of rejections in seconds: starts at 1, doubles while many requests are rejected, decreases by 1 when few are.
 *
 * Many means at least 3 per second over the current Retry-After.
 */
export class RetryAfter {
  #seconds = 1
  /** Rejections per second, oldest first. */
  #history: { readonly second: number; count: number }[] = []
  #raisedAt = Number.NEGATIVE_INFINITY

  get seconds(): number {
    return this.#seconds
  }

  /** Records a rejection. The current second counts once it is over. */
  rejected(nowMs: number): void {
    const second = Math.floor(nowMs / 1000)
    const last = this.#history.at(-1)
    if (last?.second === second) {
      last.count++
      return
    }
    this.#adjust(second)
    this.#history = this.#history.filter((each) => second - each.second <= maxSeconds)
    this.#history.push({ second, count: 1 })
  }

  #adjust(second: number): void {
    let rejected = 0
    for (const each of this.#history) if (second - each.second <= this.#seconds) rejected += each.count
    if (second - this.#raisedAt >= this.#seconds && rejected >= 3 * this.#seconds) {
      this.#seconds = Math.min(maxSeconds, this.#seconds * 2)
      this.#raisedAt = second
    } else if (rejected < this.#seconds && this.#seconds > 1) this.#seconds--
  }
}
