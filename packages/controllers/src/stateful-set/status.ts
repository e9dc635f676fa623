import type { ReadonlyPod } from '../workloads/objects.ts'
import { isAvailable, isTerminating } from '../workloads/pod-state.ts'
import type { ReadonlyRevision } from '../workloads/revisions.ts'
import { isRunningAndReady, podRevision, type ReadonlyStatefulSet, replicasOf, type StatefulSetStatus } from './objects.ts'

export interface SetRevisions {
  /** The revision of the pods that are not updated yet. */
  readonly current: ReadonlyRevision
  /** The revision of the template of the set. */
  readonly update: ReadonlyRevision
  readonly collisionCount: number
}

/**
 * Counts the pods of a set.
 *
 * @param deletedForUpdate number of pods that were just deleted because of their revision
 */
export function setStatus(
  set: ReadonlyStatefulSet,
  pods: readonly ReadonlyPod[],
  options: SetRevisions & { readonly nowMs: number; readonly deletedForUpdate: number },
): StatefulSetStatus {
  const { current, update, collisionCount, nowMs, deletedForUpdate } = options
  const at = (revision: ReadonlyRevision) =>
    pods.filter((pod) => !isTerminating(pod) && podRevision(pod) === revision.metadata.name).length
  const updatedReplicas = at(update)
  const readyReplicas = pods.filter(isRunningAndReady).length
  const wanted = replicasOf(set)
  const isRolling = set.spec?.updateStrategy?.type !== 'OnDelete'
  const isComplete = isRolling && updatedReplicas === wanted && readyReplicas === wanted && pods.length === wanted
  const counts = {
    readyReplicas,
    currentReplicas: isComplete ? updatedReplicas : at(current) - deletedForUpdate,
    updatedReplicas,
  }
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0)),
    availableReplicas: pods.filter((pod) => isRunningAndReady(pod) && isAvailable(pod, set.spec?.minReadySeconds, nowMs)).length,
    currentRevision: (isComplete ? update : current).metadata.name ?? '',
    updateRevision: update.metadata.name ?? '',
    collisionCount,
  }
}
