/**
 * Parts of a merge that are put off, so that a large one is done in slices: the map that a part fills is handed out at once, and its
 * members are merged when `run` comes to it.
 */
export class Later {
  #parts: Generator<void, void>[] = []

  add(part: Generator<void, void>): void {
    this.#parts.push(part)
  }

  /** Does everything in the order in which it was added, and what that adds. */
  *run(): Generator<void, void> {
    while (this.#parts.length > 0) {
      const parts = this.#parts
      this.#parts = []
      for (const part of parts) {
        yield* part
        yield
      }
    }
  }
}

/** How many members or items are merged between two interruptions. */
export const stepSize = 64
