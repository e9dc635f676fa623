interface Interval {
  readonly first: number
  readonly last: number
}

/**
 * A set of completion indexes, as in `status.completedIndexes`: `1,3-5,7`. Immutable.
 */
export class IndexSet {
  static readonly empty = new IndexSet([])
  readonly #intervals: readonly Interval[]
  readonly size: number

  /** @param intervals in order, with a gap between any two */
  private constructor(intervals: readonly Interval[]) {
    this.#intervals = intervals
    this.size = intervals.reduce((sum, { first, last }) => sum + last - first + 1, 0)
  }

  static of(indexes: Iterable<number>): IndexSet {
    return IndexSet.#merged([...indexes].map((index) => ({ first: index, last: index })))
  }

  /** Parses the text of a status. Malformed parts and indexes of `completions` or more are dropped. */
  static parse(text: string | undefined, completions: number): IndexSet {
    const intervals: Interval[] = []
    for (const part of (text ?? '').split(',')) {
      const match = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(part)
      if (match === null) continue
      const first = Number(match[1])
      const last = Math.min(Number(match[2] ?? match[1]), completions - 1)
      if (first <= last) intervals.push({ first, last })
    }
    return IndexSet.#merged(intervals)
  }

  static #merged(intervals: Interval[]): IndexSet {
    const merged: Interval[] = []
    for (const interval of intervals.sort((a, b) => a.first - b.first)) {
      const before = merged.at(-1)
      if (before === undefined || interval.first > before.last + 1) merged.push(interval)
      else merged[merged.length - 1] = { first: before.first, last: Math.max(before.last, interval.last) }
    }
    return new IndexSet(merged)
  }

  has(index: number): boolean {
    let [low, high] = [0, this.#intervals.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#intervals[middle]!.last >= index) high = middle
      else low = middle + 1
    }
    return (this.#intervals[low]?.first ?? Number.POSITIVE_INFINITY) <= index
  }

  union(other: IndexSet): IndexSet {
    return IndexSet.#merged([...this.#intervals, ...other.#intervals])
  }

  /** Returns the number of indexes that both sets contain. */
  overlap(other: IndexSet): number {
    return this.size + other.size - this.union(other).size
  }

  /** Returns the first `count` indexes below `completions` that are not in the set. */
  missing(count: number, completions: number): number[] {
    const found: number[] = []
    let next = 0
    for (const { first, last } of [...this.#intervals, { first: completions, last: completions }]) {
      for (; next < first && next < completions && found.length < count; next++) found.push(next)
      next = Math.max(next, last + 1)
    }
    return found
  }

  toString(): string {
    return this.#intervals
      .map(({ first, last }) => (first === last ? `${first}` : last === first + 1 ? `${first},${last}` : `${first}-${last}`))
      .join()
  }
}
