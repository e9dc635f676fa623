import type { ReadonlyPod } from '../workloads/objects.ts'
import { IndexSet } from './index-set.ts'
import { findCondition, type JobState, jobCondition, validIndex } from './job-state.ts'
import { hasTracking, isFailedPod, isIndexed } from './objects.ts'
import { decideFailure } from './policies.ts'

/**
 * Counting of ended pods. A pod is counted once, although controllers may stop between two writes:
 *
 *     pod with finalizer --> uid in uncountedTerminatedPods --> finalizer removed --> counter increased, uid removed
 */

/** The number of pods that one sync counts at most. */
const maxUncounted = 500

export interface TrackingPlan {
  /** Pods whose finalizer to remove, after the status was written. */
  readonly released: readonly ReadonlyPod[]
  /** Uids of the pods that keep the job from counting them: they have the finalizer. */
  readonly uidsWithFinalizer: Set<string>
  /** Whether the status must be written before finalizers are removed. */
  readonly needsWrite: boolean
  /** More pods remain to be counted. */
  readonly isPartial: boolean
}

/** Adds ended pods to the status, with the interim condition when the job ends. */
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

/** Moves pods that have lost their finalizer from the uncounted ones to the counters. @returns whether the status changed */
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

/** Whether a pod need not be kept any longer. */
function mayRelease({ job, keys, finished, awaitingReplacement }: JobState, pod: ReadonlyPod): boolean {
  if (job.metadata.deletionTimestamp !== undefined || finished !== undefined || pod.status?.phase === 'Succeeded') return true
  if (!isFailedPod(pod, job)) return false
  const index = validIndex(job, pod, keys)
  return index === undefined || awaitingReplacement.get(index)?.metadata.uid !== pod.metadata.uid
}

/** Notes an ended pod as uncounted. @returns whether the status changed */
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
  // Pods that still run when the job fails count as failed.
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
