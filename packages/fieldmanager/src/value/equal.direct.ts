// Derived from equal.ts by `npm run direct`: do not edit.

import { equalScalars } from './equal.ts'
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
export function equalValues(a: OptionalJsonValue, b: OptionalJsonValue): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return equalScalars(a, b)
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (let i = 0; i < a.length; i++) {
      if (!equalValues(a[i], b[i])) return false
    }
    return true
  }
  if (Array.isArray(b)) return false
  let size = 0

  for (const key in a) {
    const own = a[key]
    const other = b[key]
    if (other === undefined || (own !== other && !equalValues(own, other)) || !Object.hasOwn(b, key)) return false
    size++
  }

  for (const key in b) {
    if (b[key] !== undefined) size--
  }
  return size === 0
}
