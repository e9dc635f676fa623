import { memberNames } from '@krmkit/base/work'

/** Whether two JSON values are equal, regardless of the order of object members. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const keys = memberNames(a)
  if (keys.length !== memberNames(b).length) return false
  return keys.every(
    (key) => Object.hasOwn(b, key) && sameJson((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  )
}
