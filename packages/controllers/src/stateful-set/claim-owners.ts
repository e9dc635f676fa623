import type { ResourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly, OwnerReference } from '@krmkit/meta'
import { controllerReference } from '../workloads/claims.ts'
import { pods, type ReadonlyPod } from '../workloads/objects.ts'
import { type Claim, isInRange, ordinalOf, type ReadonlyStatefulSet, statefulSets } from './objects.ts'

/**
 * The owner references of the claims of a stateful set, determined by its retention policy. The garbage collector deletes a
 * claim with its owner.
 *
 * | when scaled | when deleted | owner |
 * |---|---|---|
 * | Retain | Retain | none |
 * | Retain | Delete | the set |
 * | Delete | Retain | the pod, once it is surplus |
 * | Delete | Delete | the set; once the pod is surplus, the pod |
 */

/**
 * Returns the owner references that a claim should have; undefined when the claim has them, or when it belongs to an earlier
 * set or pod of the same name.
 */
export function changedOwners(
  claim: DeepReadonly<Claim>,
  set: ReadonlyStatefulSet,
  pod: ReadonlyPod,
): OwnerReference[] | undefined {
  const owners = (claim.metadata.ownerReferences ?? []) as OwnerReference[]
  if (isStale(claim, set, statefulSets) || isStale(claim, pod, pods)) return undefined
  const ours = (owner: OwnerReference) => refersTo(owner, set, statefulSets) || refersTo(owner, pod, pods)
  const others = owners.filter((owner) => !ours(owner))
  const { whenDeleted = 'Retain', whenScaled = 'Retain' } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {}
  const isRetained = whenDeleted !== 'Delete' && whenScaled !== 'Delete'
  const hasForeignController = !isRetained && others.some(({ controller }) => controller === true)
  const wanted = isRetained || hasForeignController ? [] : wantedOwners(set, pod, { whenDeleted, whenScaled })
  const present = owners.filter(ours)
  const isSame = present.length === wanted.length && wanted.every(({ uid }) => present.some((owner) => owner.uid === uid))
  if (isSame && present.every(({ controller }) => controller === true)) return undefined
  return [...others, ...wanted]
}

/** Whether a claim belongs to an earlier set or pod of the same name. */
export function isStale(claim: DeepReadonly<Claim>, object: DeepReadonly<ApiObject>, resource: ResourceType): boolean {
  const owner = ((claim.metadata.ownerReferences ?? []) as OwnerReference[]).find((each) => refersTo(each, object, resource))
  return owner !== undefined && owner.uid !== object.metadata.uid
}

function refersTo(owner: OwnerReference, object: DeepReadonly<ApiObject>, resource: ResourceType): boolean {
  const { apiVersion, kind, name } = controllerReference(object, resource)
  return owner.apiVersion === apiVersion && owner.kind === kind && owner.name === name
}

function wantedOwners(
  set: ReadonlyStatefulSet,
  pod: ReadonlyPod,
  { whenDeleted, whenScaled }: { readonly whenDeleted: string; readonly whenScaled: string },
): OwnerReference[] {
  const isSurplus = !isInRange(set, ordinalOf(set, pod) ?? -1)
  if (whenScaled === 'Delete' && isSurplus) return [controllerReference(pod, pods)]
  return whenDeleted === 'Delete' ? [controllerReference(set, statefulSets)] : []
}
