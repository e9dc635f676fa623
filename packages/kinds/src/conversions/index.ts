import { type GroupVersionKind, type NamingProfile, stockProfile } from '@krmkit/meta'
import { stockGroup } from '../groups.ts'
import { autoscalerToV1, autoscalerToV2 } from './autoscaling.ts'
import { type Convert, type ConvertFactory, sameShape } from './convert.ts'
import { coreEventToNew, newEventToCore } from './events.ts'
import { resourceConversions, resourceShape } from './resource-claims.ts'

export type { Convert } from './convert.ts'

/**
 * Returns the lossless conversion between two versions of a kind; it never changes its argument.
 *
 * Versions that differ only in name (most do) share members with the argument. An unknown kind is assumed to have the same
 * shape in all its versions.
 *
 * @example
 * import { conversionBetween } from '@krmkit/kinds'
 * const hpa = (version: string) => ({ group: 'autoscaling', version, kind: 'HorizontalPodAutoscaler' })
 * const autoscaler = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: {}, spec: { maxReplicas: 3 } }
 * conversionBetween(hpa('v2'), hpa('v1'))(autoscaler).apiVersion // 'autoscaling/v1'
 * @see API protocol specification, 9.3 (rule 2)
 */
export function conversionBetween(from: GroupVersionKind, to: GroupVersionKind, profile: NamingProfile = stockProfile): Convert {
  const source = stockGroup(from.group, profile)
  const target = stockGroup(to.group, profile)
  return find(from, to, source, target)(to, profile)
}

function find(from: GroupVersionKind, to: GroupVersionKind, source: string, target: string): ConvertFactory {
  if (source !== target) {
    if (from.kind !== 'Event') return sameShape
    return source === '' && target === 'events.k8s.io' ? coreEventToNew : newEventToCore
  }
  if (source === 'autoscaling' && from.kind === 'HorizontalPodAutoscaler' && from.version !== to.version) {
    if (from.version === 'v2' && to.version === 'v1') return autoscalerToV1
    if (from.version === 'v1' && to.version === 'v2') return autoscalerToV2
  }
  if (source === 'resource.k8s.io' && Object.hasOwn(resourceConversions, from.kind)) {
    return resourceConversions[from.kind]![`${resourceShape(from.version)} ${resourceShape(to.version)}`] ?? sameShape
  }
  return sameShape
}
