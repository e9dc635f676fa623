/** Time-weighted seat demand of a level over a period. */
export interface DemandSummary {
  readonly max: number
  readonly average: number
  readonly deviation: number
  readonly durationMs: number
}

/** Collects a value over time. */
export class SeatDemand {
  #value = 0
  #max = 0
  #sum = 0
  #squares = 0
  #last: number
  #since: number

  constructor(now: number) {
    this.#last = now
    this.#since = now
  }

  set(value: number, now: number): void {
    this.#advance(now)
    this.#value = value
    if (value > this.#max) this.#max = value
  }

  /** Ends a period and begins the next one with the current value. */
  reset(now: number): DemandSummary {
    this.#advance(now)
    const durationMs = now - this.#since
    const average = durationMs > 0 ? this.#sum / durationMs : 0
    const variance = durationMs > 0 ? this.#squares / durationMs - average * average : 0
    const summary = { max: this.#max, average, deviation: Math.sqrt(Math.max(0, variance)), durationMs }
    this.#since = now
    this.#sum = 0
    this.#squares = 0
    this.#max = this.#value
    return summary
  }

  #advance(now: number): void {
    const ms = now - this.#last
    if (ms <= 0) return
    this.#sum += this.#value * ms
    this.#squares += this.#value * this.#value * ms
    this.#last = now
  }
}

/** Decay of old peaks per adjustment: a half-life of 5 minutes. */
const smoothing = 0.977

/** Demand statistics of a level for the adjustment of limits. */
export class DemandStatistics {
  highWatermark = 0
  average = 0
  deviation = 0
  smoothed = 0

  update({ max, average, deviation, durationMs }: DemandSummary): void {
    this.highWatermark = max
    if (durationMs <= 0) return
    this.average = average
    this.deviation = deviation
    const envelope = average + deviation
    this.smoothed = Math.max(envelope, smoothing * this.smoothed + (1 - smoothing) * envelope)
  }
}
