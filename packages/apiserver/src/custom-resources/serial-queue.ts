export interface SerialQueueOptions {
  /** Aborts when the server closes: tasks that have not started are dropped, and failures are no longer reported. */
  readonly closing: AbortSignal
  readonly onError: (error: unknown) => void
}

/** Runs tasks one at a time, in order. A failed task is reported and does not stop the queue. */
export class SerialQueue {
  readonly #options: SerialQueueOptions
  #tail: Promise<void> = Promise.resolve()

  constructor(options: SerialQueueOptions) {
    this.#options = options
  }

  add(task: () => Promise<void>): void {
    const { closing, onError } = this.#options
    this.#tail = this.#tail.then(async () => {
      if (closing.aborted) return
      try {
        await task()
      } catch (error) {
        if (!closing.aborted) onError(error)
      }
    })
  }

  /** Resolves when the tasks added so far have run. Never rejects. */
  drained(): Promise<void> {
    return this.#tail
  }
}
