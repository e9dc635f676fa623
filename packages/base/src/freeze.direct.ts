// Derived from freeze.ts by `npm run direct`: do not edit.

/**
 * Freezes a plain JSON value at every level. Frozen parts are skipped.
 *
 * @example
 * import { deepFreeze } from '@krmkit/base/freeze'
 * Object.isFrozen(deepFreeze({ data: { color: 'red' } }).data) // true
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)

  for (const key in value) {
    const member = (value as Record<string, unknown>)[key]
    if (typeof member === 'object' && member !== null) deepFreeze(member)
  }
  return value
}
