import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly, NamingProfile } from '@krmkit/meta'
import type { LabelSelectorObject } from '@krmkit/meta/selectors'
import type { PodTemplate, ReadonlyPod } from '../workloads/objects.ts'

/** The parts of jobs that the controllers of jobs and cron jobs read and write. */

export interface JobCondition {
  type: string
  status: string
  lastProbeTime?: string | null
  lastTransitionTime?: string | null
  reason?: string
  message?: string
}

export interface FailureRule {
  action: string
  onExitCodes?: { containerName?: string; operator: string; values?: number[] } | null
  onPodConditions?: { type: string; status: string }[]
}

export interface JobSpec {
  parallelism?: number
  completions?: number | null
  activeDeadlineSeconds?: number
  backoffLimit?: number
  backoffLimitPerIndex?: number | null
  maxFailedIndexes?: number | null
  completionMode?: string
  suspend?: boolean
  selector?: LabelSelectorObject | null
  template?: PodTemplate
  podFailurePolicy?: { rules?: FailureRule[] } | null
  successPolicy?: { rules?: { succeededIndexes?: string; succeededCount?: number }[] } | null
  podReplacementPolicy?: string
  ttlSecondsAfterFinished?: number | null
  managedBy?: string
}

export interface JobStatus {
  active?: number
  ready?: number
  terminating?: number
  succeeded?: number
  failed?: number
  startTime?: string
  completionTime?: string
  completedIndexes?: string
  failedIndexes?: string
  uncountedTerminatedPods?: { succeeded?: string[]; failed?: string[] }
  conditions?: JobCondition[]
}

export interface Job extends ApiObject {
  spec?: JobSpec
  status?: JobStatus
}

export type ReadonlyJob = DeepReadonly<Job>

export const jobs = resourceType<Job>({ group: 'batch', version: 'v1', resource: 'jobs', kind: 'Job' })

/** Annotations, labels and the finalizer of the pods of jobs. */
export interface JobKeys {
  /** Finalizer that keeps pods until they are counted. */
  readonly tracking: string
  /** Annotation and label with the completion index. */
  readonly completionIndex: string
  /** Annotation with the number of earlier failures of the index. */
  readonly failureCount: string
  /** Annotation with the number of earlier failures of the index that the failure policy ignored. */
  readonly ignoredFailureCount: string
  /** Value of `managedBy` that selects this controller. */
  readonly manager: string
}

export function jobKeysOf({ domain }: NamingProfile): JobKeys {
  return {
    tracking: `batch.${domain}/job-tracking`,
    completionIndex: `batch.${domain}/job-completion-index`,
    failureCount: `batch.${domain}/job-index-failure-count`,
    ignoredFailureCount: `batch.${domain}/job-index-ignored-failure-count`,
    manager: `${domain}/job-controller`,
  }
}

export const isIndexed = ({ spec }: ReadonlyJob): boolean => spec?.completionMode === 'Indexed'
export const isSuspended = ({ spec }: ReadonlyJob): boolean => spec?.suspend === true
export const hasLimitPerIndex = (job: ReadonlyJob): boolean => isIndexed(job) && job.spec?.backoffLimitPerIndex != null

/** Whether a pod is replaced only after it has failed, not while it is terminating. */
export const replacesOnlyFailed = ({ spec }: ReadonlyJob): boolean =>
  spec?.podReplacementPolicy === 'Failed' || spec?.podFailurePolicy != null

/** Whether a pod counts as failed. A terminating pod counts as failed unless only failed pods are replaced. */
export function isFailedPod(pod: ReadonlyPod, job: ReadonlyJob): boolean {
  const phase = pod.status?.phase
  if (phase === 'Failed') return true
  return !replacesOnlyFailed(job) && pod.metadata.deletionTimestamp !== undefined && phase !== 'Succeeded'
}

/** Returns the condition with which a job has ended. */
export function terminalCondition({ status }: ReadonlyJob): Readonly<JobCondition> | undefined {
  return status?.conditions?.find(({ type, status: value }) => (type === 'Complete' || type === 'Failed') && value === 'True')
}

export function hasTracking({ metadata }: ReadonlyPod, { tracking }: JobKeys): boolean {
  return metadata.finalizers?.includes(tracking) ?? false
}

/** Returns the completion index of a pod; undefined when it has none. */
export function completionIndex({ metadata }: ReadonlyPod, keys: JobKeys): number | undefined {
  const text = metadata.annotations?.[keys.completionIndex]
  return text !== undefined && /^\+?\d{1,10}$/.test(text) ? Number(text) : undefined
}
