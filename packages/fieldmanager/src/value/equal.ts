import { memberNames, type Work } from '@krmkit/base/work'
import type { OptionalJsonValue } from './order.ts'

/**
 * Deep equality. `1`, `1.0` and `1n` are equal, and so are 2^63-1 and the float 2^63; order matters in lists only.
 *
 * @example
 * ```ts
 * import { equalValues } from '@krmkit/fieldmanager/value'
 *
 * equalValues({ a: 1, b: [2] }, { b: [2n], a: 1 }) // true
 * ```
 */
export function* equalValues(a: OptionalJsonValue, b: OptionalJsonValue): Work<boolean> {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return equalScalars(a, b)
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (let i = 0; i < a.length; i++) {
      if (!(yield* equalValues(a[i], b[i]))) return false
      if (i % membersPerStep === 0) yield
    }
    return true
  }
  if (Array.isArray(b)) return false
  let size = 0
  const keys = memberNames(a)
  if (keys.length > membersPerStep) yield true
  for (const key of keys) {
    const own = a[key]
    const other = b[key]
    if (other === undefined || (own !== other && !(yield* equalValues(own, other))) || !Object.hasOwn(b, key)) return false
    size++
    if (size % membersPerStep === 0) yield
  }
  let visited = 0
  const others = memberNames(b)
  if (others.length > membersPerStep) yield true
  for (const key of others) {
    if (b[key] !== undefined) size--
    if (++visited % membersPerStep === 0) yield
  }
  return size === 0
}

/** Number of members compared between two yields. */
const membersPerStep = 64

/** Equality of two values that are not identical, and not both lists or both maps: only an integer and a float can be equal then. */
export function equalScalars(a: OptionalJsonValue, b: OptionalJsonValue): boolean {
  if (typeof a !== 'bigint' && typeof b !== 'bigint') return false
  // As in Go, an integer and a float are compared as floats.
  return typeof a !== typeof b && isNumber(a) && isNumber(b) && Number(a) === Number(b)
}

function isNumber(value: OptionalJsonValue): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}
