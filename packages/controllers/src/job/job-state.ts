import { formatTime, parseTime } from '@krmkit/meta'
import type { ReadonlyPod } from '../workloads/objects.ts'
import { isActive, isReady, isTerminating } from '../workloads/pod-state.ts'
import { finishedAtMs } from './backoff.ts'
import { IndexSet } from './index-set.ts'
import {
  completionIndex,
  hasLimitPerIndex,
  hasTracking,
  isFailedPod,
  isIndexed,
  isSuspended,
  type JobCondition,
  type JobKeys,
  type JobStatus,
  type ReadonlyJob,
} from './objects.ts'
import { decideFailure, metSuccessRule } from './policies.ts'

/** The state of one sync of a job. */
export interface JobState {
  /** The latest version of the job. */
  job: ReadonlyJob
  /** The status to write. */
  readonly status: JobStatus & { uncountedTerminatedPods: { succeeded?: string[]; failed?: string[] } }
  readonly keys: JobKeys
  readonly nowMs: number
  /** All pods of the job; those of an indexed job by index. */
  readonly pods: readonly ReadonlyPod[]
  readonly activePods: readonly ReadonlyPod[]
  /** Pods that ended since the last sync and are not counted yet. */
  readonly newlySucceeded: readonly ReadonlyPod[]
  readonly newlyFailed: readonly ReadonlyPod[]
  /** Uids of pods whose finalizer was removed while the informer still shows it. */
  readonly released: ReadonlySet<string>
  ready: number
  terminating: number
  succeeded: number
  readonly failed: number
  readonly succeededBefore: IndexSet
  succeededIndexes: IndexSet
  /** Undefined without a backoff limit per index. */
  readonly failedIndexes: IndexSet | undefined
  /** Failed pods, by index, that are kept until the index has a new pod, which inherits the failure counts. */
  readonly awaitingReplacement: ReadonlyMap<number, ReadonlyPod>
  /** The condition with which the job ends. */
  finished: JobCondition | undefined
}

export interface JobStateOptions {
  readonly keys: JobKeys
  readonly nowMs: number
  readonly released: ReadonlySet<string>
}

export function createState(job: ReadonlyJob, pods: readonly ReadonlyPod[], options: JobStateOptions): JobState {
  const { keys, nowMs, released } = options
  const status = { uncountedTerminatedPods: {}, ...(structuredClone(job.status ?? {}) as JobStatus) } as JobState['status']
  const indexOf = (pod: ReadonlyPod) => completionIndex(pod, keys) ?? -1
  const sorted = isIndexed(job) ? [...pods].sort((a, b) => indexOf(a) - indexOf(b)) : pods
  const activePods = sorted.filter(isActive)
  const uncounted = status.uncountedTerminatedPods
  const notIn = (uids: readonly string[] = []) => {
    const known = new Set(uids)
    return (pod: ReadonlyPod) => isCountable(job, pod, options) && !known.has(pod.metadata.uid ?? '')
  }
  const newlySucceeded = sorted.filter(notIn(uncounted.succeeded)).filter((pod) => pod.status?.phase === 'Succeeded')
  const newlyFailed = sorted.filter(notIn(uncounted.failed)).filter((pod) => isFailedPod(pod, job))
  const counted = newlyFailed.filter((pod) => decideFailure(job, pod).counts)
  if (status.startTime === undefined && !isSuspended(job)) status.startTime = formatTime(nowMs)
  const state: JobState = {
    ...{ job, status, keys, nowMs, pods: sorted, activePods, newlySucceeded, newlyFailed, released },
    ready: activePods.filter(isReady).length,
    terminating: sorted.filter((pod) => isTerminating(pod) && pod.status?.phase !== 'Failed' && pod.status?.phase !== 'Succeeded')
      .length,
    succeeded: (status.succeeded ?? 0) + newlySucceeded.length + (uncounted.succeeded?.length ?? 0),
    failed: (status.failed ?? 0) + counted.length + (uncounted.failed?.length ?? 0),
    ...indexesOf(job, sorted, activePods, options),
    finished: undefined,
  }
  if (isIndexed(job)) state.succeeded = state.succeededIndexes.size
  return state
}

/** Whether a pod may still be counted: it has the finalizer and, in an indexed job, a valid index. */
function isCountable(job: ReadonlyJob, pod: ReadonlyPod, { keys, released }: JobStateOptions): boolean {
  if (!hasTracking(pod, keys) || released.has(pod.metadata.uid ?? '')) return false
  return !isIndexed(job) || validIndex(job, pod, keys) !== undefined
}

/** Returns the completion index of a pod when it is below the number of completions. */
export function validIndex({ spec }: ReadonlyJob, pod: ReadonlyPod, keys: JobKeys): number | undefined {
  const index = completionIndex(pod, keys)
  return index !== undefined && index < (spec?.completions ?? 0) ? index : undefined
}

function indexesOf(
  job: ReadonlyJob,
  pods: readonly ReadonlyPod[],
  activePods: readonly ReadonlyPod[],
  options: JobStateOptions,
): Pick<JobState, 'succeededBefore' | 'succeededIndexes' | 'failedIndexes' | 'awaitingReplacement'> {
  const none = IndexSet.empty
  if (!isIndexed(job))
    return { succeededBefore: none, succeededIndexes: none, failedIndexes: undefined, awaitingReplacement: new Map() }
  const { keys } = options
  const completions = job.spec?.completions ?? 0
  const indexesWhere = (filter: (pod: ReadonlyPod) => boolean) =>
    IndexSet.of(pods.filter((pod) => hasTracking(pod, keys) && filter(pod)).flatMap((pod) => validIndex(job, pod, keys) ?? []))
  const succeededBefore = IndexSet.parse(job.status?.completedIndexes, completions)
  const succeededIndexes = succeededBefore.union(indexesWhere((pod) => pod.status?.phase === 'Succeeded'))
  if (!hasLimitPerIndex(job))
    return { succeededBefore, succeededIndexes, failedIndexes: undefined, awaitingReplacement: new Map() }
  const failedBefore = IndexSet.parse(job.status?.failedIndexes, completions)
  const failedIndexes = failedBefore.union(indexesWhere((pod) => failsIndex(job, pod, keys)))
  const active = IndexSet.of(activePods.flatMap((pod) => completionIndex(pod, keys) ?? []))
  const settled = succeededIndexes.union(failedIndexes).union(active)
  const awaitingReplacement = new Map<number, ReadonlyPod>()
  for (const pod of pods) {
    if (!isCountable(job, pod, options) || !isFailedPod(pod, job)) continue
    const index = validIndex(job, pod, keys)
    if (index === undefined || settled.has(index)) continue
    const other = awaitingReplacement.get(index)
    if (other === undefined || isLaterFailure(pod, other, keys)) awaitingReplacement.set(index, pod)
  }
  return { succeededBefore, succeededIndexes, failedIndexes, awaitingReplacement }
}

function failsIndex(job: ReadonlyJob, pod: ReadonlyPod, keys: JobKeys): boolean {
  if (!isFailedPod(pod, job)) return false
  const { action, counts } = decideFailure(job, pod)
  return action === 'FailIndex' || (counts && failureCounts(pod, keys).counted >= (job.spec?.backoffLimitPerIndex ?? 0))
}

function isLaterFailure(pod: ReadonlyPod, other: ReadonlyPod, keys: JobKeys): boolean {
  return failureCounts(pod, keys).total >= failureCounts(other, keys).total && finishedAtMs(pod) >= finishedAtMs(other)
}

/** Returns the number of earlier failures of the index of a pod, from the annotations of the pod. */
export function failureCounts(
  { metadata }: ReadonlyPod,
  { failureCount, ignoredFailureCount }: JobKeys,
): { readonly counted: number; readonly ignored: number; readonly total: number } {
  const read = (key: string) => {
    const text = metadata.annotations?.[key]
    return text !== undefined && /^\+?\d{1,10}$/.test(text) && Number(text) < 2 ** 31 ? Number(text) : 0
  }
  const [counted, ignored] = [read(failureCount), read(ignoredFailureCount)]
  return { counted, ignored, total: counted + ignored }
}

export function jobCondition(state: Pick<JobState, 'nowMs'>, type: string, reason: string, message: string): JobCondition {
  const time = formatTime(state.nowMs)
  return { type, status: 'True', lastProbeTime: time, lastTransitionTime: time, reason, message }
}

export function findCondition({ status }: Pick<JobState, 'status'>, type: string): JobCondition | undefined {
  return status.conditions?.find((condition) => condition.type === type)
}

/** Returns the terminal condition of the job, if one is reached. Failure takes precedence over success. */
export function evaluate(state: JobState): JobCondition | undefined {
  const { job, pods, nowMs } = state
  const { spec = {} } = job
  const met = findCondition(state, 'SuccessCriteriaMet')
  if (met?.status === 'True') return met
  const target = findCondition(state, 'FailureTarget')
  if (target?.status === 'True') return jobCondition(state, 'Failed', target.reason ?? '', target.message ?? '')
  const fails = (reason: string, message: string) => jobCondition(state, 'FailureTarget', reason, message)
  const policyMessage = pods.filter((pod) => isFailedPod(pod, job)).map((pod) => decideFailure(job, pod).message)
  const message = policyMessage.find((text) => text !== undefined)
  if (message !== undefined) return fails('PodFailurePolicy', message)
  if (state.failed > (spec.backoffLimit ?? 6) || exceedsRestarts(state))
    return fails('BackoffLimitExceeded', 'Job has reached the specified backoff limit')
  const deadline = deadlineMs(state)
  if (deadline !== undefined && deadline <= nowMs)
    return fails('DeadlineExceeded', 'Job was active longer than specified deadline')
  if (!isIndexed(job)) return undefined
  const { failedIndexes, succeededIndexes } = state
  if (failedIndexes !== undefined) {
    if (spec.maxFailedIndexes != null && failedIndexes.size > spec.maxFailedIndexes)
      return fails('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes')
    if (failedIndexes.size > 0 && failedIndexes.size + succeededIndexes.size >= (spec.completions ?? 0))
      return fails('FailedIndexes', 'Job has failed indexes')
  }
  const rule = metSuccessRule(job, succeededIndexes)
  return rule === undefined ? undefined : jobCondition(state, 'SuccessCriteriaMet', 'SuccessPolicy', rule)
}

/** Returns when the job exceeds its active deadline; undefined without one and while the job is suspended. */
export function deadlineMs({ job, status }: Pick<JobState, 'job' | 'status'>): number | undefined {
  const seconds = job.spec?.activeDeadlineSeconds
  if (seconds === undefined || status.startTime === undefined || isSuspended(job)) return undefined
  return parseTime(status.startTime) + seconds * 1000
}

/** Whether the sum of container restarts, for pods with the restart policy `OnFailure`, has reached the backoff limit. */
function exceedsRestarts({ job, pods }: JobState): boolean {
  if (job.spec?.template?.spec?.restartPolicy !== 'OnFailure') return false
  let restarts = 0
  for (const { status } of pods) {
    if (status?.phase !== 'Running' && status?.phase !== 'Pending') continue
    for (const { restartCount = 0 } of [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])])
      restarts += restartCount
  }
  const limit = job.spec?.backoffLimit ?? 6
  return limit === 0 ? restarts > 0 : restarts >= limit
}
