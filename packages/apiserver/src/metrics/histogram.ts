/** Weighted observations by bucket. */
export class Histogram {
  readonly bounds: readonly number[]
  /** Weight per bucket, not cumulative. */
  readonly counts: number[]
  total = 0
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = new Array<number>(bounds.length).fill(0)
  }

  observe(value: number, weight = 1): void {
    this.total += weight
    this.sum += value * weight
    for (let i = 0; i < this.bounds.length; i++) {
      if (value > (this.bounds[i] as number)) continue
      this.counts[i]! += weight
      return
    }
  }
}

/** A histogram of a ratio over time, weighted as if it was observed every nanosecond. */
export class TimedHistogram {
  readonly histogram: Histogram
  /** Divisor of the value. */
  denominator = 1
  #value = 0
  #last: number

  constructor(bounds: readonly number[], now: number) {
    this.histogram = new Histogram(bounds)
    this.#last = now
  }

  set(value: number, now: number): void {
    if (now > this.#last) {
      this.histogram.observe(this.#value / this.denominator, (now - this.#last) * 1e6)
      this.#last = now
    }
    this.#value = value
  }

  /** Accounts for the current value up to now. */
  advance(now: number): void {
    this.set(this.#value, now)
  }
}
