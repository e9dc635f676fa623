import type { Work } from '@krmkit/base/work'

/**
 * Sorts by position like Go's `sort.Stable`: insertion sort in blocks, then in-place merges. An item without position (-1) compares less
 * than every other item, and every other item less than it. With this contradictory order, the algorithm must be the same to get the result
 * of kube-apiserver.
 *
 * @returns the item indices in order.
 * @see P.-S. Kim and A. Kutzner, "Stable Minimum Storage Merging by Symmetric Comparisons", 2004
 */
export function* stableOrder(positions: Int32Array): Work<Uint32Array> {
  const count = positions.length
  const order = new Uint32Array(count)
  for (let i = 0; i < count; i++) order[i] = i
  const less = (i: number, j: number): boolean => {
    const position = positions[order[i] as number] as number
    const other = positions[order[j] as number] as number
    return position < 0 || other < 0 || position < other
  }
  for (let from = 0; from < count; from += blockSize) {
    insertEach(order, less, from, Math.min(from + blockSize, count))
    yield
  }
  for (let size = blockSize; size < count; size *= 2) {
    for (let from = 0; from + size < count; from += 2 * size) {
      yield* mergeRuns(order, less, { from, middle: from + size, to: Math.min(from + 2 * size, count) })
    }
  }
  return order
}

const blockSize = 20

type Less = (i: number, j: number) => boolean

/** Two adjacent sorted runs: `from` to `middle`, and `middle` to `to`. */
interface Runs {
  readonly from: number
  readonly middle: number
  readonly to: number
}

function insertEach(order: Uint32Array, less: Less, from: number, to: number): void {
  for (let i = from + 1; i < to; i++) {
    for (let j = i; j > from && less(j, j - 1); j--) rotate(order, { from: j - 1, middle: j, to: j + 1 })
  }
}

/** Shorter runs are merged without yielding. */
const shortRuns = 256

function* mergeRuns(order: Uint32Array, less: Less, { from, middle, to }: Runs): Work {
  if (middle - from === 1) {
    const at = firstWhere(middle, to, (i) => !less(i, from))
    rotate(order, { from, middle, to: at })
    return
  }
  if (to - middle === 1) {
    const at = firstWhere(from, middle, (i) => less(middle, i))
    rotate(order, { from: at, middle, to })
    return
  }
  // Cut both runs symmetrically to the centre, such that everything before the cut sorts before everything after it.
  const centre = (from + to) >> 1
  const sum = centre + middle
  const [low, high] = middle > centre ? [sum - to, centre] : [from, middle]
  const start = firstWhere(low, high, (i) => less(sum - 1 - i, i))
  const end = sum - start
  rotate(order, { from: start, middle, to: end })
  if (to - from > shortRuns) yield
  if (from < start && start < centre) yield* mergeRuns(order, less, { from, middle: start, to: centre })
  if (centre < end && end < to) yield* mergeRuns(order, less, { from: centre, middle: end, to })
}

/** Binary search for the first index with the property; `to` when there is none. */
function firstWhere(from: number, to: number, holds: (i: number) => boolean): number {
  let low = from
  let high = to
  while (low < high) {
    const half = (low + high) >> 1
    if (holds(half)) high = half
    else low = half + 1
  }
  return low
}

/** Swaps two adjacent runs, each keeping its order. */
function rotate(order: Uint32Array, { from, middle, to }: Runs): void {
  if (from >= middle || middle >= to) return
  const first = order.slice(from, middle)
  order.copyWithin(from, middle, to)
  order.set(first, to - first.length)
}
