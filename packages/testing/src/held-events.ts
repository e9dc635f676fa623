import { TestingError } from './testing-error.ts'

interface HeldEvent {
  readonly label: string
  readonly deliver: () => void
}

export interface HeldEventsOptions {
  /** Resolves when the effects of a delivered event have ended. */
  readonly settle: () => Promise<void>
  readonly onRelease: () => void
}

/**
 * Watch events that are held until the test releases them, one by one. Each watch delivers its events in order, so that only
 * its next event is held.
 *
 *     arrives --held--> step --delivered--> settled
 */
export class HeldEvents implements Disposable {
  readonly #options: HeldEventsOptions
  readonly #held: HeldEvent[] = []
  #isReleased = false

  constructor(options: HeldEventsOptions) {
    this.#options = options
  }

  /** The next event of each watch, in the order of arrival: `MODIFIED Pod web to watch 1 of pods by operator`. */
  get events(): readonly string[] {
    return this.#held.map(({ label }) => label)
  }

  /**
   * Delivers the event that was held first, or the first whose text contains `which` or matches it. Resolves when the server has settled.
   *
   * @returns the text of the event
   * @throws TestingError `NothingHeld`
   */
  async step(which: string | RegExp = ''): Promise<string> {
    const index = this.#held.findIndex(({ label }) => (typeof which === 'string' ? label.includes(which) : which.test(label)))
    const [event] = index < 0 ? [] : this.#held.splice(index, 1)
    if (event === undefined) {
      const wanted =
        which === '' ? 'no event is held' : `no held event matches ${typeof which === 'string' ? JSON.stringify(which) : which}`
      const held = this.#held.length === 0 ? 'none' : `\n${this.events.map((label) => `  ${label}`).join('\n')}`
      throw new TestingError({ code: 'NothingHeld', message: `${wanted}; held events: ${held}` })
    }
    event.deliver()
    await this.#options.settle()
    return event.label
  }

  /** Delivers everything, and holds nothing from now on. */
  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#options.onRelease()
    for (const { deliver } of this.#held.splice(0)) deliver()
  }

  [Symbol.dispose](): void {
    this.release()
  }

  /** Called by the server: holds an event. @returns whether the event is delivered; false if its watch ends first */
  hold(label: string, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const event: HeldEvent = {
        label,
        deliver: () => {
          signal.removeEventListener('abort', onAbort)
          resolve(true)
        },
      }
      const onAbort = () => {
        const index = this.#held.indexOf(event)
        if (index >= 0) this.#held.splice(index, 1)
        resolve(false)
      }
      if (signal.aborted) return resolve(false)
      signal.addEventListener('abort', onAbort, { once: true })
      this.#held.push(event)
    })
  }
}
