import type { ReadonlyPod } from '../workloads/objects.ts'
import { IndexSet } from './index-set.ts'
import { findCondition, type JobState, jobCondition, validIndex } from './job-state.ts'
import { hasTracking, isFailedPod, isIndexed } from './objects.ts'
import { decideFailure } from './policies.ts'

/**
 * Counts ended pods. A pod is counted exactly once, even if the controller stops between two writes:
 *
 *     pod with finalizer --> uid in uncountedTerminatedPods --> finalizer removed --> counter increased, uid removed
 */

/** Maximum number of pods that one sync counts. */
const maxUncounted = 500

export interface TrackingPlan {
  /** Pods whose finalizer is removed after the status write. */
  readonly released: readonly ReadonlyPod[]
  /** Uids of pods that still have the finalizer and therefore cannot move to the counters. */
  readonly uidsWithFinalizer: Set<string>
  /** Whether the status must be written before finalizers are removed. */
  readonly needsWrite: boolean
  /** Whether more pods remain to be counted. */
  readonly isPartial: boolean
}

/** Adds ended pods to `uncountedTerminatedPods`, and the interim condition when the job is ending. Mutates the status. */
export function planTracking(state: JobState): TrackingPlan {
  const { job, status, keys, pods, released: known } = state
  const uidsWithFinalizer = new Set<string>()
  for (const pod of pods) {
    const { uid = '' } = pod.metadata
    if (hasTracking(pod, keys) && !known.has(uid)) uidsWithFinalizer.add(uid)
  }
  const uncountedBefore = new Set([
    ...(status.uncountedTerminatedPods.succeeded ?? []),
    ...(status.uncountedTerminatedPods.failed ?? []),
  ])
  let needsWrite = countReleased(state, uidsWithFinalizer)
  const released: ReadonlyPod[] = []
  const newIndexes: number[] = []
  let isPartial = false
  for (const pod of pods) {
    if (!uidsWithFinalizer.has(pod.metadata.uid ?? '') || !mayRelease(state, pod)) continue
    released.push(pod)
    if (count(state, pod, { uncountedBefore, newIndexes })) needsWrite = true
    const { succeeded = [], failed = [] } = status.uncountedTerminatedPods
    if (newIndexes.length + succeeded.length + failed.length >= maxUncounted) {
      isPartial = true
      break
    }
  }
  if (isIndexed(job) && writeIndexes(state, newIndexes)) needsWrite = true
  if (addInterimCondition(state)) needsWrite = true
  return { released, uidsWithFinalizer, needsWrite, isPartial }
}

/** Moves pods without the finalizer from `uncountedTerminatedPods` to the counters. @returns whether the status changed */
export function countReleased({ status }: JobState, uidsWithFinalizer: ReadonlySet<string>): boolean {
  let isChanged = false
  const uncounted = status.uncountedTerminatedPods
  for (const kind of ['succeeded', 'failed'] as const) {
    const before = uncounted[kind] ?? []
    const rest = before.filter((uid) => uidsWithFinalizer.has(uid))
    if (rest.length === before.length) continue
    isChanged = true
    status[kind] = (status[kind] ?? 0) + before.length - rest.length
    if (rest.length === 0) delete uncounted[kind]
    else uncounted[kind] = rest
  }
  return isChanged
}

/** Whether the finalizer of a pod may be removed. */
function mayRelease({ job, keys, finished, awaitingReplacement }: JobState, pod: ReadonlyPod): boolean {
  if (job.metadata.deletionTimestamp !== undefined || finished !== undefined || pod.status?.phase === 'Succeeded') return true
  if (!isFailedPod(pod, job)) return false
  const index = validIndex(job, pod, keys)
  return index === undefined || awaitingReplacement.get(index)?.metadata.uid !== pod.metadata.uid
}

/** Adds an ended pod to `uncountedTerminatedPods`. @returns whether the status changed */
function count(
  state: JobState,
  pod: ReadonlyPod,
  { uncountedBefore, newIndexes }: { readonly uncountedBefore: ReadonlySet<string>; readonly newIndexes: number[] },
): boolean {
  const { job, keys, status, finished, succeededBefore } = state
  const { uid = '' } = pod.metadata
  const uncounted = status.uncountedTerminatedPods
  if (uncountedBefore.has(uid)) return false
  const index = validIndex(job, pod, keys)
  if (pod.status?.phase === 'Succeeded') {
    if (!isIndexed(job)) uncounted.succeeded = [...(uncounted.succeeded ?? []), uid]
    else if (index === undefined || succeededBefore.has(index)) return false
    else newIndexes.push(index)
    return true
  }
  // Pods that are still running when the job fails count as failed.
  const jobFails = finished !== undefined && finished.type !== 'SuccessCriteriaMet'
  if (!isFailedPod(pod, job) && !jobFails) return false
  if ((isIndexed(job) && index === undefined) || !decideFailure(job, pod).counts) return false
  uncounted.failed = [...(uncounted.failed ?? []), uid]
  return true
}

/** @returns whether the status changed */
function writeIndexes(state: JobState, newIndexes: readonly number[]): boolean {
  const { status, failedIndexes } = state
  state.succeededIndexes = state.succeededIndexes.union(IndexSet.of(newIndexes))
  const completed = state.succeededIndexes.toString()
  const failed = failedIndexes?.toString()
  const isChanged = completed !== (status.completedIndexes ?? '') || failed !== status.failedIndexes
  status.succeeded = state.succeededIndexes.size
  if (completed === '') delete status.completedIndexes
  else status.completedIndexes = completed
  if (failed === undefined) delete status.failedIndexes
  else status.failedIndexes = failed
  return isChanged
}

/**
 * Adds `FailureTarget` or `SuccessCriteriaMet`, and replaces the condition with which the job ends by the terminal one.
 *
 * @returns whether the status changed
 */
function addInterimCondition(state: JobState): boolean {
  const { finished, status } = state
  if (finished?.type === 'FailureTarget') {
    status.conditions = [...(status.conditions ?? []), finished]
    state.finished = jobCondition(state, 'Failed', finished.reason ?? '', finished.message ?? '')
    return true
  }
  if (finished?.type !== 'SuccessCriteriaMet') return false
  const isNew = findCondition(state, 'SuccessCriteriaMet')?.status !== 'True'
  if (isNew) status.conditions = [...(status.conditions ?? []), finished]
  state.finished = jobCondition(state, 'Complete', finished.reason ?? '', finished.message ?? '')
  return isNew
}

/** Adds the terminal condition once all pods are counted and gone. @returns whether the job has ended */
export function finish({ status, finished, terminating }: JobState): boolean {
  if (finished === undefined || terminating > 0) return false
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods
  if (succeeded.length + failed.length > 0) return false
  status.conditions = [...(status.conditions ?? []).filter(({ type }) => type !== finished.type), finished]
  if (finished.type === 'Complete' && finished.lastTransitionTime != null) status.completionTime = finished.lastTransitionTime
  return true
}
