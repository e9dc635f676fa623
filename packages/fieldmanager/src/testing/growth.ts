/** Counts how often merge keys of items are read. */
export class KeyReads {
  count = 0

  /** An item whose `name` is counted whenever it is read. */
  item(name: string, rest: object = {}): { name: string } {
    const reads = this
    return {
      get name() {
        reads.count++
        return name
      },
      ...rest,
    }
  }
}

/** Runs a generator to its end and counts how often it may be interrupted. */
export function runCounted<T>(work: Generator<void, T>): { value: T; steps: number } {
  for (let steps = 0; ; steps++) {
    const { done, value } = work.next()
    if (done === true) return { value, steps }
  }
}
