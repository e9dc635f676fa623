/** Items sorted in one step. */
const itemsPerRun = 2048

/** Items merged between two yields. */
const itemsPerStep = 128

/**
 * Sorts a list with interruption points: a merge sort of sorted runs.
 *
 * @param compare as for `Array.prototype.sort`. Default: the order of UTF-16 texts, for lists of strings.
 * @returns the sorted list; `items` itself may be changed.
 * @example
 * import { runAtOnce, sortSteps } from '@krmkit/meta/slices'
 * runAtOnce(sortSteps(['b', 'a'])) // [ 'a', 'b' ]
 */
export function* sortSteps<T>(items: T[], compare?: (a: T, b: T) => number): Generator<unknown, T[]> {
  if (items.length <= itemsPerRun) return items.sort(compare)
  const isOrdered = compare === undefined ? (a: T, b: T) => a <= b : (a: T, b: T) => compare(a, b) <= 0
  let from: T[] = []
  for (let start = 0; start < items.length; start += itemsPerRun) {
    for (const item of items.slice(start, start + itemsPerRun).sort(compare)) from.push(item)
    yield true
  }
  for (let width = itemsPerRun; width < from.length; width *= 2) {
    const to: T[] = []
    for (let start = 0; start < from.length; start += 2 * width) {
      const middle = Math.min(start + width, from.length)
      const end = Math.min(middle + width, from.length)
      for (let left = start, right = middle; left < middle || right < end; ) {
        const takesLeft = right >= end || (left < middle && isOrdered(from[left] as T, from[right] as T))
        to.push(from[takesLeft ? left++ : right++] as T)
        if (to.length % itemsPerStep === 0) yield
      }
    }
    from = to
  }
  return from
}
