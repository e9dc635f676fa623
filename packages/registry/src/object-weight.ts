import { memberCountOfLargeMap } from '@krmkit/meta/slices'

/** Whether an object is large enough to be processed in slices. */

/** Larger bodies are parsed in slices, and weighed again after defaulting. */
export const largeBodyBytes = 64 * 1024

/** Objects with more values are processed in slices; this many take far less than one slice. */
const manyValues = 2000

/**
 * Whether a value holds so many values that linear work on it needs slices. Visits no more values than the limit.
 *
 * @example
 * import { isLarge } from '@krmkit/registry'
 * isLarge({ metadata: { name: 'web' } }) // false
 * isLarge(Array.from({ length: 5000 }, String)) // true
 */
export function isLarge(value: unknown): boolean {
  return count(value, 0) > manyValues
}

function count(value: unknown, before: number): number {
  if (typeof value !== 'object' || value === null) return before
  if (hasWideObjects && wideObjects.has(value)) return before + manyValues + 1
  const known = memberCountOfLargeMap(value)
  if (known !== undefined && before + known > manyValues) return before + known
  let values = before
  if (Array.isArray(value)) {
    values += value.length
    for (let i = 0; i < value.length && values <= manyValues; i++) {
      const item: unknown = value[i]
      if (typeof item === 'object' && item !== null) values = count(item, values)
    }
    return values
  }
  for (const key in value) {
    if (++values > manyValues) break
    const member = (value as Record<string, unknown>)[key]
    if (typeof member === 'object' && member !== null) values = count(member, values)
  }
  if (values - before > manyValues) {
    hasWideObjects = true
    wideObjects.add(value)
  }
  return values
}

/** Objects known to be large: enumerating their keys again would cost time linear in their number. */
const wideObjects = new WeakSet<object>()
/** Most servers never see one, and every write weighs its object several times. */
let hasWideObjects = false
