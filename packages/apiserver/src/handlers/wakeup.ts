/** Wakes the stream of a watch. A wake-up between `take` and `wait` is kept. */
export class Wakeup {
  stopped = false
  /** Whether the stream ends after the events that have already arrived. */
  retired = false
  #pending = false
  #resolve: (() => void) | undefined

  /** Whether the stream waits for a wake-up. */
  get isWaiting(): boolean {
    return this.#resolve !== undefined
  }

  wake(): void {
    const resolve = this.#resolve
    this.#resolve = undefined
    if (resolve === undefined) this.#pending = true
    else resolve()
  }

  stop(): void {
    this.stopped = true
    this.wake()
  }

  retire(): void {
    this.retired = true
    this.wake()
  }

  /** Waits for the next wake-up; `undefined` when one has happened since the last call. */
  wait(): Promise<void> | undefined {
    if (this.#pending) {
      this.#pending = false
      return undefined
    }
    return new Promise((resolve) => {
      this.#resolve = resolve
    })
  }
}
