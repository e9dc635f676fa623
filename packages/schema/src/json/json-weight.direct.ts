// Derived from json-weight.ts by `npm run direct`: do not edit.
import { scalarWeight } from './json-weight.ts'

/**
 * Lower bound of the length of the JSON text of a value, in bytes.
 *
 * @param known keys of large objects in the value; some members may have been removed since.
 * @example
 * import { jsonWeight } from '@krmkit/schema/decode'
 * jsonWeight({ a: '1' }) // 9
 * @see {@link DecodedSize}
 */
export function jsonWeight(value: unknown, known?: ReadonlyMap<object, readonly string[]>): number {
  if (typeof value !== 'object' || value === null) return scalarWeight(value)
  let weight = 1

  if (Array.isArray(value)) {
    for (const element of value) {
      weight += 1 + (typeof element === 'object' ? jsonWeight(element, known) : scalarWeight(element))
    }
    return Math.max(2, weight)
  }

  for (const key in value) {
    const member = (value as Record<string, unknown>)[key]
    if (member !== undefined)
      weight += key.length + 4 + (typeof member === 'object' ? jsonWeight(member, known) : scalarWeight(member))
  }
  return Math.max(2, weight)
}
