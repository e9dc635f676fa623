import type { Work } from '@krmkit/base/work'

/** Counts reads of items' merge keys. */
export class KeyReadCounter {
  count = 0

  /** An item whose `name` reads are counted. */
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

/** Runs a generator and counts its yields. */
export function runCounting<T>(work: Work<T>): { value: T; steps: number } {
  for (let steps = 0; ; steps++) {
    const { done, value } = work.next()
    if (done === true) return { value, steps }
  }
}
