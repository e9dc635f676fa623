import { setMember } from '@krmkit/meta'
import { stringifyJson } from './encode-json.direct.ts'
import { sortKeys } from './shape.direct.ts'

/** Deep copy of a JSON value with the keys of every object sorted by bytes. */
export function sortedCopy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sortedCopy)
  const object = value as Record<string, unknown>
  const sorted: Record<string, unknown> = {}
  for (const key of sortKeys(Object.keys(object))) setMember(sorted, key, sortedCopy(object[key]))
  return sorted
}

/**
 * Returns a text that is the same for equal values, regardless of member order.
 *
 * @example
 * import { equalityKey } from '@krmkit/schema/json'
 * equalityKey({ b: 1, a: [] }) // '{"a":[],"b":1}'
 */
export function equalityKey(value: unknown): string {
  return stringifyJson(sortedCopy(value))
}
