import { memberNames, rememberMemberNames } from './large-maps.ts'

/** Freezes plain JSON values that readers share. */

/** Members frozen between two yields. */
const membersPerStep = 128

/**
 * Freezes a plain JSON value at every level, with pauses for large values. Parts that are frozen already are skipped.
 *
 * @see {@link deepFreeze}
 * @example
 * import { freezeSteps, runAtOnce } from '@krmkit/meta/work'
 * Object.isFrozen(runAtOnce(freezeSteps({ data: { color: 'red' } })).data) // true
 */
export function* freezeSteps<T>(value: T): Generator<true | undefined, T> {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  const keys = memberNames(value)
  if (!Array.isArray(value)) rememberMemberNames(value, keys)
  if (keys.length > membersPerStep) yield true
  for (let i = 0; i < keys.length; i++) {
    const member: unknown = (value as Record<string, unknown>)[keys[i] as string]
    if (typeof member === 'object' && member !== null) yield* freezeSteps(member)
    if (i % membersPerStep === 0) yield
  }
  return value
}

/**
 * Freezes a plain JSON value at every level. Parts that are frozen already are skipped.
 *
 * @example
 * import { deepFreeze } from '@krmkit/meta/work'
 * Object.isFrozen(deepFreeze({ data: { color: 'red' } }).data) // true
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const key in value) deepFreeze(value[key])
  }
  return value
}
