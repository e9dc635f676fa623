/** Lets work run at the same time, except exclusive work, which runs alone. */
export class Gate {
  #running = 0
  #exclusive = false
  #waiting: (() => void)[] = []

  async run<T>(exclusive: boolean, work: () => Promise<T>): Promise<T> {
    while (this.#exclusive || (exclusive && this.#running > 0)) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#running++
    this.#exclusive = exclusive
    try {
      return await work()
    } finally {
      this.#running--
      this.#exclusive = false
      for (const wake of this.#waiting.splice(0)) wake()
    }
  }
}
