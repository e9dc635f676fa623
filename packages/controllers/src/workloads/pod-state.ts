import { parseTime } from '@krmkit/meta'
import type { PodCondition, ReadonlyPod } from './objects.ts'

/** The state of a pod, as its status reports it. */

/** Whether a pod has neither ended nor begun to terminate. */
export function isActive(pod: ReadonlyPod): boolean {
  return !isFinished(pod) && !isTerminating(pod)
}

/** Whether all containers of a pod have ended for good. */
export function isFinished({ status }: ReadonlyPod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

export function isTerminating({ metadata }: ReadonlyPod): boolean {
  return metadata.deletionTimestamp !== undefined
}

export function podCondition({ status }: ReadonlyPod, type: string): Readonly<PodCondition> | undefined {
  return status?.conditions?.find((condition) => condition.type === type)
}

export function isReady(pod: ReadonlyPod): boolean {
  return podCondition(pod, 'Ready')?.status === 'True'
}

/**
 * Returns when a ready pod has been ready for `minReadySeconds`, in milliseconds since the epoch. Undefined while it is not ready.
 */
export function availableAtMs(pod: ReadonlyPod, minReadySeconds = 0): number | undefined {
  const condition = podCondition(pod, 'Ready')
  if (condition?.status !== 'True') return undefined
  if (minReadySeconds === 0) return 0
  const since = condition.lastTransitionTime
  return since == null ? undefined : parseTime(since) + minReadySeconds * 1000
}

/** Whether a pod has been ready for `minReadySeconds`. */
export function isAvailable(pod: ReadonlyPod, minReadySeconds: number | undefined, nowMs: number): boolean {
  return (availableAtMs(pod, minReadySeconds) ?? Number.POSITIVE_INFINITY) <= nowMs
}

/** Returns when the next ready pod becomes available. Undefined when no ready pod is waiting. */
export function nextAvailableAtMs(
  pods: readonly ReadonlyPod[],
  minReadySeconds: number | undefined,
  nowMs: number,
): number | undefined {
  let next: number | undefined
  for (const pod of pods) {
    const at = availableAtMs(pod, minReadySeconds)
    if (at !== undefined && at > nowMs) next = Math.min(next ?? at, at)
  }
  return next
}
