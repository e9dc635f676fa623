import type { Clock } from './interfaces.ts'

/** How often something may happen: `burst` times at once, and from then on so many times in a second. */
export interface Pace {
  readonly perSecond: number
  readonly burst: number
}

/** Keeps something to a pace; whoever reserves a turn waits for it by a clock of theirs. */
export class TokenBucket {
  readonly #pace: Pace
  readonly #clock: Pick<Clock, 'now'>
  #left: number
  #countedAt: number

  constructor(pace: Pace, clock: Pick<Clock, 'now'>) {
    this.#pace = pace
    this.#clock = clock
    this.#left = pace.burst
    this.#countedAt = clock.now()
  }

  /** Takes the next turn. @returns milliseconds until it comes; 0: now. */
  reserve(): number {
    const { perSecond, burst } = this.#pace
    const now = this.#clock.now()
    this.#left = Math.min(burst, this.#left + (Math.max(0, now - this.#countedAt) / 1000) * perSecond) - 1
    this.#countedAt = now
    return this.#left >= 0 ? 0 : (-this.#left / perSecond) * 1000
  }
}
