/** Which pods use a claim, and the condition that says whether any does. */

import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { formatTime } from '@krmkit/meta'
import { type Claim, type ClaimCondition, type ContainerStatus, ephemeralClaimName, type Pod } from './objects.ts'

/** Names of the claims of a pod's volumes. */
export function claimNames(pod: DeepReadonly<Pod>): string[] {
  return (pod.spec?.volumes ?? []).flatMap((volume) => {
    if (volume.persistentVolumeClaim !== undefined) return [volume.persistentVolumeClaim.claimName]
    return volume.ephemeral === undefined ? [] : [ephemeralClaimName(pod, volume)]
  })
}

/** Whether a pod uses a claim. Unscheduled pods do not count: nodes do not start pods with a terminating claim. */
export function usesClaim(pod: DeepReadonly<Pod>, claim: DeepReadonly<Claim>): boolean {
  return (pod.spec?.nodeName ?? '') !== '' && refersToClaim(pod, claim)
}

/** Whether a pod that has not ended refers to a claim, scheduled or not. */
export function needsClaim(pod: DeepReadonly<Pod>, claim: DeepReadonly<Claim>): boolean {
  return !hasEnded(pod) && refersToClaim(pod, claim)
}

function refersToClaim(pod: DeepReadonly<Pod>, claim: DeepReadonly<Claim>): boolean {
  return (pod.spec?.volumes ?? []).some((volume) => {
    if (volume.persistentVolumeClaim !== undefined) return volume.persistentVolumeClaim.claimName === claim.metadata.name
    if (volume.ephemeral === undefined || ephemeralClaimName(pod, volume) !== claim.metadata.name) return false
    return isOwnedBy(claim, pod)
  })
}

/** Whether a claim was created for an ephemeral volume of a pod. */
export function isOwnedBy(claim: DeepReadonly<Claim>, pod: DeepReadonly<Pod>): boolean {
  return claim.metadata.ownerReferences?.some(({ uid, controller }) => controller === true && uid === pod.metadata.uid) ?? false
}

/** Whether all containers of a pod have ended for good, or a pod that is being deleted runs none. */
function hasEnded({ metadata, status = {} }: DeepReadonly<Pod>): boolean {
  if (status.phase === 'Failed' || status.phase === 'Succeeded') return true
  if (metadata.deletionTimestamp === undefined) return false
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status
  return [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses].every(isNotRunning)
}

function isNotRunning({ state }: DeepReadonly<ContainerStatus>): boolean {
  return state?.terminated !== undefined || state?.waiting !== undefined
}

const unusedType = 'Unused'

/** The claim with the condition `Unused`; undefined when it is right already. */
export function withUse(claim: DeepReadonly<Claim>, isUsed: boolean, nowMs: number): Claim | undefined {
  const conditions = claim.status?.conditions ?? []
  const status = isUsed ? 'False' : 'True'
  const before = conditions.find(({ type }) => type === unusedType)
  if (before?.status === status) return undefined
  const text = isUsed
    ? { reason: 'PodUsingPVC', message: 'A pod is currently referencing this PVC' }
    : { reason: 'NoPodsUsingPVC', message: 'No pods are currently referencing this PVC' }
  const condition: ClaimCondition = { type: unusedType, status, lastTransitionTime: formatTime(nowMs), ...text }
  const changed = structuredClone(claim) as Claim
  changed.status = {
    ...changed.status,
    conditions:
      before === undefined ? [...conditions, condition] : conditions.map((each) => (each === before ? condition : each)),
  }
  return changed
}

export function isDeleted({ metadata }: DeepReadonly<ApiObject>): boolean {
  return metadata.deletionTimestamp !== undefined
}
