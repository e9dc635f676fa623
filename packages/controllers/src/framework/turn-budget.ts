import { onNextTurn } from '@krmkit/base/work'

/** Time budget of all controllers together in one turn of the event loop, in milliseconds. */
const turnMs = 4

/**
 * Time budget that controllers share in each turn of the event loop, so that requests run between parts of their work.
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

  /** Whether the budget of this turn is used up. The first call in a turn starts the measurement. */
  get isUsed(): boolean {
    if (this.#turnMs === Number.POSITIVE_INFINITY) return false
    if (this.#startMs !== undefined) return performance.now() - this.#startMs >= this.#turnMs
    this.#startMs = performance.now()
    onNextTurn(() => {
      this.#startMs = undefined
    })
    return false
  }

  /** Resolves on the next turn; `undefined` while budget is left in this turn. */
  pause(): Promise<void> | undefined {
    return this.isUsed ? new Promise((resolve) => onNextTurn(resolve)) : undefined
  }
}
