/**
 * Calls many callbacks when a signal aborts, with one listener. Adding or removing a listener of a signal takes time in proportion to its
 * listeners, which would cost more with every open watch.
 */
export class AbortCallbacks {
  readonly #signal: AbortSignal
  readonly #callbacks = new Set<() => void>()

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', () => this.#run(), { once: true })
  }

  /** Calls `run` once when the signal aborts; at once when it has aborted. @returns a function that removes the callback */
  add(run: () => void): () => void {
    if (this.#signal.aborted) {
      run()
      return () => {}
    }
    this.#callbacks.add(run)
    return () => {
      this.#callbacks.delete(run)
    }
  }

  #run(): void {
    const callbacks = [...this.#callbacks]
    this.#callbacks.clear()
    for (const run of callbacks) run()
  }
}
