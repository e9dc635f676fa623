import type { ResourceDefinition } from '@krmkit/kinds'
import { missingMembers } from '@krmkit/kinds/strategies'
import { type FieldError, field } from '@krmkit/meta'
import type { FrozenObject } from './interfaces.ts'

/** Members that a kind requires although their zero value is legal. @see Strategy.requiredMembers */

export type RequiredMembers = readonly (readonly string[])[] | undefined

const none: readonly FieldError[] = []

/**
 * Errors for the required members that a value lacks: a body, a patched object or an applied configuration before it is decoded,
 * because decoding fills an absent member with its zero value.
 *
 * @example
 * import { missingErrors } from '@krmkit/registry'
 * missingErrors({ metadata: { name: 'a' } }, [['spec']]) // [{ field: 'spec', reason: 'FieldValueRequired', message: 'Required value' }]
 */
export function missingErrors(value: unknown, required: RequiredMembers): readonly FieldError[] {
  return required === undefined ? none : missingMembers(value, required).map((path) => field.required(path))
}

/**
 * The members that objects of a resource, or of one of its subresources, must have.
 *
 * @example
 * import { builtInKinds } from '@krmkit/kinds'
 * import { requiredMembersOf } from '@krmkit/registry'
 * const drivers = builtInKinds().find(({ resource }) => resource.name === 'csidrivers')
 * if (drivers !== undefined) requiredMembersOf(drivers, '') // [['spec']]
 */
export function requiredMembersOf({ strategy }: ResourceDefinition, subresource: string): RequiredMembers {
  return strategy.requiredMembers?.[subresource]
}

/**
 * The errors that fail an update: objects stored without a required member stay writable without it.
 *
 * @param current the stored object, in the version of the request
 */
export function newlyMissing(
  missing: readonly FieldError[],
  current: FrozenObject | undefined,
  required: RequiredMembers,
): readonly FieldError[] {
  if (missing.length === 0 || current === undefined) return missing
  const before = new Set(missingErrors(current, required).map(({ field }) => field))
  return missing.filter(({ field }) => !before.has(field))
}
