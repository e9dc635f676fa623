/** How fast clients must send their bodies. */
export interface PaceLimits {
  readonly bodyWindowMs: number
  readonly bodyBytesPerSecond: number
}

/** A body that is being read. */
export interface PacedBody {
  /** Bytes that arrived in the current window. */
  received: number
  windowStart: number
  readonly onSlow: () => void
}

const looksPerWindow = 4

/**
 * Finds bodies that arrive too slowly: fewer bytes in a window than the rate asks for. One timer serves all bodies of a listener, and runs
 * only while there are some; most bodies are gone before it looks.
 */
export class BodyPace {
  readonly #limits: PaceLimits
  readonly #bodies = new Set<PacedBody>()
  #timer: NodeJS.Timeout | undefined

  constructor(limits: PaceLimits) {
    this.#limits = limits
  }

  /** Begins to watch a body; `onSlow` is called at most once. */
  begin(onSlow: () => void): PacedBody {
    const body = { received: 0, windowStart: performance.now(), onSlow }
    this.#bodies.add(body)
    if (this.#timer === undefined && Number.isFinite(this.#limits.bodyWindowMs)) {
      this.#timer = setInterval(() => this.#look(), this.#limits.bodyWindowMs / looksPerWindow)
      this.#timer.unref()
    }
    return body
  }

  end(body: PacedBody): void {
    this.#bodies.delete(body)
  }

  #look(): void {
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
