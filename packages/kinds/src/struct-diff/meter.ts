/** The cost of one difference. */

/** Steps between two pauses. */
const stepsPerPause = 256

/** Maximum number of steps of one difference: about a second. Differs: kube-apiserver has no limit. */
const maxSteps = 1_000_000

/** Thrown when a difference costs too much. */
export class TooCostly extends Error {}

/** Counts the steps of one difference. */
export class Meter {
  #steps = 0
  #pauseAt = stepsPerPause

  /**
   * Counts steps, and says whether to pause.
   *
   * @throws TooCostly after too many steps
   */
  isDue(steps = 1): boolean {
    this.#steps += steps
    if (this.#steps > maxSteps) throw new TooCostly()
    if (this.#steps < this.#pauseAt) return false
    this.#pauseAt = this.#steps + stepsPerPause
    return true
  }
}
