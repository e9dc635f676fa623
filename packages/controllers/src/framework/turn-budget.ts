import { onNextTurn } from '@krmkit/meta/work'

/** Time that controllers together may work in one turn of the event loop, in milliseconds. */
const turnMs = 4

/**
 * Measures the work of the controllers that run together in a turn of the event loop, so that requests need not wait for all of it.
 *
 * @example
 * import { TurnBudget } from '@krmkit/controllers/framework'
 * const budget = new TurnBudget()
 * for (const name of ['a', 'b']) {
 *   console.log(name)
 *   await budget.pause()
 * }
 */
export class TurnBudget {
  readonly #turnMs: number
  #startMs: number | undefined

  /** @param milliseconds per turn; `Infinity` for no limit */
  constructor(milliseconds = turnMs) {
    this.#turnMs = milliseconds
  }

  /** Whether the time of this turn is used up. The first call in a turn starts it. */
  get isUsed(): boolean {
    if (this.#turnMs === Number.POSITIVE_INFINITY) return false
    if (this.#startMs !== undefined) return performance.now() - this.#startMs >= this.#turnMs
    this.#startMs = performance.now()
    onNextTurn(() => {
      this.#startMs = undefined
    })
    return false
  }

  /** Resolves on the next turn; `undefined` while the time of this one is not used up. */
  pause(): Promise<void> | undefined {
    return this.isUsed ? new Promise((resolve) => onNextTurn(resolve)) : undefined
  }
}
