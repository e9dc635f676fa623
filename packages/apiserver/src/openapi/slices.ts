import type { Clock } from '@krmkit/meta'

/**
 * Long work in short slices, so that requests are answered in between. What is under way takes turns: a short piece of work does not
 * wait for the end of a long one.
 */
export class Slices {
  readonly #now: () => number
  readonly #sliceMs: number
  readonly #waiting: (() => boolean)[] = []
  #running = false

  /** @param sliceMs after so long the event loop has its turn. Default 5. */
  constructor(clock: Pick<Clock, 'now'>, sliceMs = 5) {
    this.#now = () => clock.now()
    this.#sliceMs = sliceMs
  }

  /** Takes all steps; the first slice at once when nothing else is under way. */
  run<R>(steps: Generator<void, R>): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          return this.#slice(steps, resolve)
        } catch (error) {
          reject(error)
          return true
        }
      })
      if (this.#running) return
      this.#running = true
      this.#turn()
    })
  }

  /** @returns whether the work is done. */
  #slice<R>(steps: Generator<void, R>, done: (result: R) => void): boolean {
    const until = this.#now() + this.#sliceMs
    do {
      const step = steps.next()
      if (step.done !== true) continue
      done(step.value)
      return true
    } while (this.#now() < until)
    return false
  }

  readonly #turn = (): void => {
    const work = this.#waiting.shift()
    if (work === undefined) {
      this.#running = false
      return
    }
    if (!work()) this.#waiting.push(work)
    if (this.#waiting.length > 0) setImmediate(this.#turn)
    else this.#running = false
  }
}
