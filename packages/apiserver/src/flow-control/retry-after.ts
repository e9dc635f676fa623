const maxSeconds = 32

/**
 * Seconds after which rejected callers should try again: 1 at first, doubled while many are rejected, one less when few are.
 *
 * Many: at least 3 a second, looked at over as long as is presently asked for.
 */
export class RetryAfter {
  #seconds = 1
  /** Rejections by second, the oldest first. */
  #history: { readonly second: number; count: number }[] = []
  #raisedAt = Number.NEGATIVE_INFINITY

  get seconds(): number {
    return this.#seconds
  }

  /** Notes a rejection. The present second counts once it is over. */
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
