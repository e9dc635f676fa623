/**
 * How much there is in an object, as far as it takes to choose between the direct way and the one in slices.
 */

/** Objects of more values than this are worked on in slices: what this many take is far below a slice. */
const manyValues = 2000

/** Whether a value holds so many values that work in proportion to them is cut into slices. Looks at no more of them than that. */
export function isLarge(value: unknown): boolean {
  return count(value, 0) > manyValues
}

function count(value: unknown, before: number): number {
  if (typeof value !== 'object' || value === null) return before
  if (wideObjects.has(value)) return before + manyValues + 1
  let values = before
  if (Array.isArray(value)) {
    values += value.length
    for (let i = 0; i < value.length && values <= manyValues; i++) values = count(value[i], values)
    return values
  }
  for (const key in value) {
    if (++values > manyValues) break
    values = count((value as Record<string, unknown>)[key], values)
  }
  if (values - before > manyValues) wideObjects.add(value)
  return values
}

/** A memo of objects with many values: the engine collects all keys of an object before it gives the first. */
const wideObjects = new WeakSet<object>()
