import { memberNames, rememberMemberNames } from '@krmkit/meta/work'

/** Freezes plain JSON values that readers share. */

/** As `deepFreeze`, for large values: a generator that can be interrupted at each yield. */
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

/** Members frozen between two yields. */
const membersPerStep = 128

/** Freezes a plain JSON value at every level. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const key in value) deepFreeze(value[key])
  }
  return value
}
