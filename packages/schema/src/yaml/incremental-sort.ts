/** Number of items sorted in one step. */
const runLength = 2048

/**
 * Merge sort in steps of at most linear time, for long lists: sorts runs of adjacent items, then merges them in pairs.
 *
 *     d b a c | f e     runs of 4: a b c d | e f     merged: a b c d e f
 */
export class IncrementalSort {
  readonly #compare: (a: string, b: string) => number
  /** Sorted runs of the current round, runs of the next round, and unsorted items. */
  #runs: string[][] = []
  #merged: string[][] = []
  #rest: readonly string[]

  constructor(items: readonly string[], compare: (a: string, b: string) => number) {
    this.#rest = items
    this.#compare = compare
  }

  /** @returns the sorted list once it is complete. */
  step(): readonly string[] | undefined {
    if (this.#rest.length > 0) {
      this.#merged.push(this.#rest.slice(0, runLength).sort(this.#compare))
      this.#rest = this.#rest.slice(runLength)
      return undefined
    }
    if (this.#runs.length === 0) {
      if (this.#merged.length <= 1) return this.#merged[0] ?? []
      this.#runs = this.#merged
      this.#merged = []
    }
    const [first = [], second = []] = this.#runs.splice(0, 2)
    this.#merged.push(this.#merge(first, second))
    return undefined
  }

  #merge(a: readonly string[], b: readonly string[]): string[] {
    const out: string[] = []
    let i = 0
    let j = 0
    while (i < a.length && j < b.length) {
      const x = a[i] as string
      const y = b[j] as string
      const isFirst = this.#compare(x, y) <= 0
      out.push(isFirst ? x : y)
      if (isFirst) i++
      else j++
    }
    return out.concat(a.slice(i), b.slice(j))
  }
}
