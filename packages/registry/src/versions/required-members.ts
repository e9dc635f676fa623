import type { ResourceDefinition } from '@krmkit/kinds'
import type { RequiredMembers } from '@krmkit/kinds/strategies'

/**
 * The members that objects of a resource, or of one of its subresources, must have.
 *
 * @see Strategy.requiredMembers
 * @example
 * import { builtInKinds } from '@krmkit/kinds'
 * import { requiredMembersOf } from '@krmkit/registry'
 * const drivers = builtInKinds().find(({ resource }) => resource.name === 'csidrivers')
 * if (drivers !== undefined) requiredMembersOf(drivers, '') // [['spec']]
 */
export function requiredMembersOf({ strategy }: ResourceDefinition, subresource: string): RequiredMembers {
  return strategy.requiredMembers?.[subresource]
}
