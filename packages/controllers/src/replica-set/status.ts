import { formatTime } from '@krmkit/meta'
import { labelSelectorFromLabels } from '@krmkit/meta/selectors'
import type { ReadonlyPod } from '../workloads/objects.ts'
import { isAvailable, isReady } from '../workloads/pod-state.ts'
import type { ReadonlyReplicaSet, ReplicaCondition, ReplicaStatus } from './objects.ts'

const failureType = 'ReplicaFailure'

export interface StatusOptions {
  readonly nowMs: number
  /** The error of the last creation or deletion of pods; undefined when it succeeded. */
  readonly failure: unknown
  /** Number of terminating pods; undefined: the status does not count them. */
  readonly terminating?: number | undefined
}

/** Returns the status of a set with these active pods. */
export function replicaStatus(
  set: ReadonlyReplicaSet,
  pods: readonly ReadonlyPod[],
  { nowMs, failure, terminating }: StatusOptions,
): ReplicaStatus {
  const template = labelSelectorFromLabels(set.spec?.template?.metadata?.labels ?? {})
  const ready = pods.filter(isReady)
  const counts = {
    fullyLabeledReplicas: pods.filter(({ metadata }) => template.matches(metadata.labels ?? {})).length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isAvailable(pod, set.spec?.minReadySeconds, nowMs)).length,
  }
  const conditions = conditionsOf(set, pods.length - (set.spec?.replicas ?? 1), { nowMs, failure })
  return {
    replicas: pods.length,
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0)),
    ...(terminating === undefined ? {} : { terminatingReplicas: terminating }),
    observedGeneration: set.metadata.generation ?? 0,
    ...(conditions.length === 0 ? {} : { conditions }),
  }
}

function conditionsOf({ status }: ReadonlyReplicaSet, excess: number, { nowMs, failure }: StatusOptions): ReplicaCondition[] {
  const before = (status?.conditions ?? []).map((condition) => ({ ...condition }))
  if (failure === undefined) return before.filter(({ type }) => type !== failureType)
  if (before.some(({ type }) => type === failureType)) return before
  const message = failure instanceof Error ? failure.message : String(failure)
  const reason = excess < 0 ? 'FailedCreate' : excess > 0 ? 'FailedDelete' : ''
  return [...before, { type: failureType, status: 'True', lastTransitionTime: formatTime(nowMs), reason, message }]
}
