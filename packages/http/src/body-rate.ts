/** The minimum rate of request bodies. */
export interface BodyRateLimits {
  readonly bodyWindowMs: number
  readonly bodyBytesPerSecond: number
}

/** A body that is being read. */
export interface MonitoredBody {
  /** Bytes received in the current window. */
  received: number
  windowStart: number
  readonly onSlow: () => void
}

const checksPerWindow = 4

/**
 * Detects bodies below the minimum rate. One timer serves all bodies of a listener and runs only while a body is being read; most bodies
 * end before its first check.
 */
export class BodyRateMonitor {
  readonly #limits: BodyRateLimits
  readonly #bodies = new Set<MonitoredBody>()
  #timer: NodeJS.Timeout | undefined

  constructor(limits: BodyRateLimits) {
    this.#limits = limits
  }

  /** Starts monitoring a body. Calls `onSlow` at most once. */
  begin(onSlow: () => void): MonitoredBody {
    const body = { received: 0, windowStart: performance.now(), onSlow }
    this.#bodies.add(body)
    if (this.#timer === undefined && Number.isFinite(this.#limits.bodyWindowMs)) {
      this.#timer = setInterval(() => this.#check(), this.#limits.bodyWindowMs / checksPerWindow)
      this.#timer.unref()
    }
    return body
  }

  end(body: MonitoredBody): void {
    this.#bodies.delete(body)
  }

  #check(): void {
    if (this.#bodies.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    const { bodyWindowMs, bodyBytesPerSecond } = this.#limits
    const now = performance.now()
    for (const body of this.#bodies) {
      const elapsed = now - body.windowStart
      if (elapsed < bodyWindowMs) continue
      if (body.received < (elapsed / 1000) * bodyBytesPerSecond) {
        this.#bodies.delete(body)
        body.onSlow()
      } else {
        body.windowStart = now
        body.received = 0
      }
    }
  }
}
