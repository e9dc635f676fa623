/** Wakes the stream of a watch. A wake-up between `take` and `wait` is kept. */
export class Wakeup {
  stopped = false
  /** Events that have arrived are still sent, and none after them. */
  retired = false
  #pending = false
  #resolve: (() => void) | undefined

  /** The stream waits for a wake-up. */
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

  /** `undefined` when there is nothing to wait for: the stream was woken since it last looked. */
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
