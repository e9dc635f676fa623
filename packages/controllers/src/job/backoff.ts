import { parseTime } from '@krmkit/meta'
import type { ContainerStatus, ReadonlyPod } from '../workloads/objects.ts'
import { podCondition } from '../workloads/pod-state.ts'

/** The delay before failed pods are replaced: 10 seconds, doubled with each failure after the last success, up to 10 minutes. */

const baseMs = 10_000
const maxMs = 600_000

/** Failures of pods since the last success. */
export interface BackoffRecord {
  readonly failures: number
  readonly lastFailureMs: number
}

export const noFailures: BackoffRecord = { failures: 0, lastFailureMs: 0 }

/** Returns the record updated with pods that ended since then. */
export function withFinished(
  record: BackoffRecord,
  succeeded: readonly ReadonlyPod[],
  failed: readonly ReadonlyPod[],
): BackoffRecord {
  const failures = failed.map(finishedAtMs)
  if (succeeded.length === 0) {
    if (failures.length === 0) return record
    return { failures: record.failures + failures.length, lastFailureMs: Math.max(...failures) }
  }
  const lastSuccess = Math.max(...succeeded.map(finishedAtMs))
  const later = failures.filter((time) => time > lastSuccess)
  return later.length === 0 ? noFailures : { failures: later.length, lastFailureMs: Math.max(...later) }
}

/** Returns the remaining delay in milliseconds. */
export function remainingMs({ failures, lastFailureMs }: BackoffRecord, nowMs: number): number {
  if (failures === 0) return 0
  const delay = Math.min(maxMs, baseMs * 2 ** Math.min(failures - 1, 20))
  return Math.max(0, lastFailureMs + delay - nowMs)
}

/**
 * Returns when a pod ended, in milliseconds since the epoch: the first known of the end of its last container, the time at
 * which it became unready, the time at which its deletion was requested, and its creation timestamp.
 */
export function finishedAtMs(pod: ReadonlyPod): number {
  const { creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata
  const ended = lastContainerEnd(pod)
  if (ended !== undefined) return ended
  const ready = podCondition(pod, 'Ready')
  if (ready?.status === 'False' && ready.lastTransitionTime != null) return parseTime(ready.lastTransitionTime)
  if (deletionTimestamp !== undefined) return parseTime(deletionTimestamp) - deletionGracePeriodSeconds * 1000
  return creationTimestamp == null ? 0 : parseTime(creationTimestamp)
}

/** Returns the end of the last container; undefined while one has not ended. Sidecars count, other init containers do not. */
function lastContainerEnd({ spec, status }: ReadonlyPod): number | undefined {
  const sidecars = new Set(
    spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  )
  const statuses = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses?.filter(({ name }) => sidecars.has(name)) ?? []),
  ]
  const ends = statuses.map(endOf)
  return ends.length === 0 || ends.includes(undefined) ? undefined : Math.max(...(ends as number[]))
}

function endOf({ state }: { readonly state?: Readonly<ContainerStatus['state']> }): number | undefined {
  const finishedAt = state?.terminated?.finishedAt
  return finishedAt == null ? undefined : parseTime(finishedAt)
}
