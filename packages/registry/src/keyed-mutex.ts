import type { Clock } from '@krmkit/meta'

/** Whoever holds a turn longer than this may wait for somebody who waits for the turn: the next one goes ahead. */
const longestTurnMs = 1000

/**
 * Turns at one key each: who has lost a race for an object waits until those who lost before have written, instead of
 * losing again and again.
 */
export class KeyedMutex {
  readonly #clock: Clock
  /** When the last of those who asked is done. */
  readonly #last = new Map<string, Promise<void>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when it is the caller's turn, with what ends the turn. */
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
      const cancel = this.#clock.setTimeout(resolve, longestTurnMs)
      turn.then(() => {
        cancel()
        resolve()
      })
    })
  }
}
