import { systemClock } from '@krmkit/meta'

/** An event needs fewer turns of the event loop than this from a write to whoever watches, and back as a request. */
const turnsOfEvent = 8
/** A request that is under way for so long while nothing else happens waits for time, or for somebody outside. */
const stuckMs = 1000
const stuckTurns = 50

/** Requests under way, and whether anything happens at all. */
export class IdleWait {
  #open = 0
  #changes = 0
  #waiting: (() => void)[] = []

  /** A request begins; the returned function ends it. */
  begin(): () => void {
    this.#open++
    this.#changes++
    return () => {
      this.#changes++
      this.#close()
    }
  }

  /** Time that a request spends waiting for the clock does not count. */
  async without<T>(time: Promise<T>): Promise<T> {
    this.#close()
    try {
      return await time
    } finally {
      this.#open++
      this.#changes++
    }
  }

  /** Resolves when `round` has run, no request is under way, and for some turns of the event loop nothing came. */
  async settled(round: () => Promise<void>, revision: () => number): Promise<void> {
    for (;;) {
      const isStuck = !(await this.#idle())
      await round()
      const changes = this.#changes
      const before = revision()
      await turns(turnsOfEvent)
      if (changes === this.#changes && before === revision() && (isStuck || this.#open === 0)) return
    }
  }

  #close(): void {
    if (--this.#open > 0) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }

  /** False when requests seem to be stuck. */
  #idle(): Promise<boolean> {
    if (this.#open === 0) return Promise.resolve(true)
    return new Promise((resolve) => {
      let changes = this.#changes
      const look = async () => {
        // A busy machine may be late with everything: what is due now happens first.
        await turns(stuckTurns)
        if (changes === this.#changes) resolve(false)
        else {
          changes = this.#changes
          cancel = systemClock.setTimeout(look, stuckMs)
        }
      }
      let cancel = systemClock.setTimeout(look, stuckMs)
      this.#waiting.push(() => {
        cancel()
        resolve(true)
      })
    })
  }
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise<void>((resolve) => setImmediate(resolve))
}
