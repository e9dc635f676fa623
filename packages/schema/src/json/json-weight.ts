import { memberNames, type Work } from '@krmkit/base/work'

/**
 * Lower bound of the length of the JSON text of a value, in bytes.
 *
 * @param known keys of large objects in the value; some members may have been removed since.
 * @example
 * import { jsonWeight } from '@krmkit/schema/decode'
 * jsonWeight({ a: '1' }) // 9
 * @see {@link DecodedSize}
 */
export function* jsonWeight(value: unknown, known?: ReadonlyMap<object, readonly string[]>): Work<number> {
  if (typeof value !== 'object' || value === null) return scalarWeight(value)
  let weight = 1
  let count = 0
  if (Array.isArray(value)) {
    for (const element of value) {
      weight += 1 + (typeof element === 'object' ? yield* jsonWeight(element, known) : scalarWeight(element))
      if (++count % membersPerStep === 0) yield
    }
    return Math.max(2, weight)
  }
  const keys = known?.get(value) ?? memberNames(value)
  if (keys.length > membersPerStep) yield true
  for (const key of keys) {
    const member = (value as Record<string, unknown>)[key]
    if (member !== undefined)
      weight += key.length + 4 + (typeof member === 'object' ? yield* jsonWeight(member, known) : scalarWeight(member))
    if (++count % membersPerStep === 0) yield
  }
  return Math.max(2, weight)
}

/** Members weighed between two yields. */
const membersPerStep = 128

export function scalarWeight(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  return typeof value === 'boolean' || value === null ? 4 : 1
}
