import type { Clock } from '@krmkit/meta'

/**
 * Maximum time that a waiter waits for one holder. A holder that takes longer may itself depend on a waiter, so the next waiter proceeds
 * without the release.
 */
const maxHoldMs = 1000

/**
 * One lock per key, granted in order of request. A writer that has lost a race for an object takes the lock before it tries again, so
 * that writers do not keep invalidating each other.
 */
export class KeyedMutex {
  readonly #clock: Clock
  /** Resolves when the last requested lock of a key is released. */
  readonly #last = new Map<string, Promise<void>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves with the function that releases the lock. */
  async lock(key: string): Promise<() => void> {
    const before = this.#last.get(key)
    let end: () => void = () => undefined
    const done = new Promise<void>((resolve) => {
      end = resolve
    })
    this.#last.set(key, done)
    if (before !== undefined) await this.#over(before)
    return () => {
      if (this.#last.get(key) === done) this.#last.delete(key)
      end()
    }
  }

  #over(turn: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.setTimeout(resolve, maxHoldMs)
      turn.then(() => {
        cancel()
        resolve()
      })
    })
  }
}
