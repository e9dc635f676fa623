import { memberNames, rememberMemberNames } from './large-maps.ts'
import type { Work } from './work.ts'

/** Freezes plain JSON values that readers share. */

/** Members frozen between two yields. */
const membersPerStep = 128

/**
 * Freezes a plain JSON value at every level. Frozen parts are skipped.
 *
 * @example
 * import { deepFreeze } from '@krmkit/base/freeze'
 * Object.isFrozen(deepFreeze({ data: { color: 'red' } }).data) // true
 */
export function* deepFreeze<T>(value: T): Work<T> {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  const keys = memberNames(value)
  if (!Array.isArray(value)) rememberMemberNames(value, keys)
  if (keys.length > membersPerStep) yield true
  let count = 0
  for (const key of keys) {
    const member = (value as Record<string, unknown>)[key]
    if (typeof member === 'object' && member !== null) yield* deepFreeze(member)
    if (++count % membersPerStep === 0) yield
  }
  return value
}
