/** Validation of a job's status and of its transitions. */
import type { DeepReadonly } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { goText } from '@krmkit/meta/go-text'
import { formatGoTime, instantToMs, parseInstant } from '@krmkit/meta/time'
import type { Job, JobStatus } from '../../../types/batch-v1.generated.ts'
import { semanticEqual } from '../../shared/equality.direct.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { validateNotNegative } from '../../shared/numbers.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import { firstOverlap, readIndexes } from './indexes.ts'
import { invalidUnprinted } from './pod-policies.ts'

type State = R<JobStatus>

function isConditionTrue(status: State, type: string): boolean {
  return (status.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True')
}

const isFinished = (status: State): boolean => isConditionTrue(status, 'Complete') || isConditionTrue(status, 'Failed')

/** Validates only what changed, so that older objects stay writable. */
export function validateJobStatus(job: DeepReadonly<Job>, old: DeepReadonly<Job>, at: FieldPath): void {
  const status: State = job.status ?? {}
  const before: State = old.status ?? {}
  const { features } = at.errors.context
  // Other controllers may write the status only where jobs can be theirs.
  const checksTransitions = gateEnabled('JobManagedBy', features)
  validateCounts(status, at)
  if (checksTransitions) validateChanges(job, before, at)
  const isExtended =
    checksTransitions || gateEnabled('JobPodReplacementPolicy', features) || isConditionTrue(before, 'SuccessCriteriaMet')
  validateCriteria(job, at, isExtended)
  if (checksTransitions) validateProgress(job, old, at)
  validateCriteriaProgress(status, before, at)
}

function validateChanges(job: DeepReadonly<Job>, before: State, at: FieldPath): void {
  const status: State = job.status ?? {}
  const changed = changesOf(status, before)
  validateConditions(status, at, changed)
  validateTimes(status, at, changed)
  validateFinished(job, at, changed)
  validateIndexes(job, at, changed)
  if ((changed.finished || changed.terminating) && (status.terminating ?? 0) > 0 && isFinished(status)) {
    at.child('terminating').invalid(status.terminating, 'terminating>0 is invalid for finished job')
  }
  if ((changed.ready || changed.active) && isSet(status.ready) && status.ready > (status.active ?? 0)) {
    at.child('ready').invalid(status.ready, 'cannot set more ready pods than active')
  }
}

/** The parts of the status that differ. */
type Changes = ReturnType<typeof changesOf>

function changesOf(status: State, old: State) {
  const differs = (name: keyof JobStatus) => !semanticEqual(status[name], old[name])
  const turned = (type: string) => isConditionTrue(status, type) !== isConditionTrue(old, type)
  return {
    finished: isFinished(status) !== isFinished(old),
    complete: turned('Complete'),
    failed: turned('Failed'),
    failureTarget: turned('FailureTarget'),
    criteria: turned('SuccessCriteriaMet'),
    active: (status.active ?? 0) !== (old.active ?? 0),
    startTime: differs('startTime'),
    completionTime: differs('completionTime'),
    uncounted: differs('uncountedTerminatedPods'),
    completedIndexes: (status.completedIndexes ?? '') !== (old.completedIndexes ?? ''),
    failedIndexes: differs('failedIndexes'),
    ready: differs('ready'),
    terminating: differs('terminating'),
  }
}

function validateCounts(status: State, at: FieldPath): void {
  for (const name of ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const)
    validateNotNegative(status[name], at.child(name))
  const seen = new Set<string>()
  for (const list of ['succeeded', 'failed'] as const) {
    for (const [i, uid] of (status.uncountedTerminatedPods?.[list] ?? []).entries()) {
      const here = at.child('uncountedTerminatedPods').child(list).index(i)
      if (uid === '') here.invalid(uid, 'must not be empty')
      else if (seen.has(uid)) here.duplicate(uid)
      else seen.add(uid)
    }
  }
}

function validateConditions(status: State, at: FieldPath, changed: Changes): void {
  const complete = isConditionTrue(status, 'Complete')
  const conditions = at.child('conditions')
  if ((changed.complete || changed.failed) && complete && isConditionTrue(status, 'Failed')) {
    invalidUnprinted(conditions, 'cannot set Complete=True and Failed=true conditions')
  }
  if ((changed.complete || changed.failureTarget) && complete && isConditionTrue(status, 'FailureTarget')) {
    invalidUnprinted(conditions, 'cannot set Complete=True and FailureTarget=true conditions')
  }
}

function printTime(time: string): ReturnType<typeof goText> {
  return goText(formatGoTime(time) ?? time)
}

function validateTimes(status: State, at: FieldPath, changed: Changes): void {
  const { startTime, completionTime } = status
  const here = at.child('completionTime')
  const complete = isConditionTrue(status, 'Complete')
  if (changed.complete || changed.completionTime) {
    if (isSet(completionTime) && !complete) {
      here.invalid(printTime(completionTime), 'cannot set completionTime when there is no Complete=True condition')
    }
    if (!isSet(completionTime) && complete) here.required('completionTime is required for Complete jobs')
  }
  if (
    (changed.startTime || changed.completionTime) &&
    isSet(startTime) &&
    isSet(completionTime) &&
    msOf(completionTime) < msOf(startTime)
  ) {
    here.invalid(printTime(completionTime), 'completionTime cannot be set before startTime')
  }
}

function msOf(time: string): number {
  const instant = parseInstant(time)
  return instant === undefined ? 0 : instantToMs(instant)
}

function validateFinished(job: DeepReadonly<Job>, at: FieldPath, changed: Changes): void {
  const status: State = job.status ?? {}
  const finished = isFinished(status)
  const conditions = at.child('conditions')
  if (
    (changed.failed || changed.failedIndexes) &&
    isConditionTrue(status, 'Failed') &&
    !isConditionTrue(status, 'FailureTarget')
  ) {
    invalidUnprinted(conditions, 'cannot set Failed=True condition without the FailureTarget=true condition')
  }
  if (
    (changed.complete || changed.criteria) &&
    isConditionTrue(status, 'Complete') &&
    !isConditionTrue(status, 'SuccessCriteriaMet')
  ) {
    invalidUnprinted(conditions, 'cannot set Complete=True condition without the SuccessCriteriaMet=true condition')
  }
  if (!finished) return
  if ((changed.finished || changed.active) && (status.active ?? 0) > 0) {
    at.child('active').invalid(status.active, 'active>0 is invalid for finished job')
  }
  const idle = job.spec?.suspend === true && job.spec.completions === 0
  if ((changed.finished || changed.startTime) && !idle && !isSet(status.startTime)) {
    at.child('startTime').required('startTime is required for finished job')
  }
  const { succeeded, failed } = status.uncountedTerminatedPods ?? {}
  if ((changed.finished || changed.uncounted) && !(isEmpty(succeeded) && isEmpty(failed))) {
    const detail = 'uncountedTerminatedPods needs to be empty for finished job'
    at.child('uncountedTerminatedPods').invalid(status.uncountedTerminatedPods, detail)
  }
}

function validateIndexes(job: DeepReadonly<Job>, at: FieldPath, changed: Changes): void {
  const { completions, backoffLimitPerIndex, completionMode } = job.spec ?? {}
  const { completedIndexes = '', failedIndexes } = job.status ?? {}
  const completedAt = at.child('completedIndexes')
  const failedAt = at.child('failedIndexes')
  if (changed.completedIndexes && isSet(completions)) {
    const read = readIndexes(completedIndexes, completions)
    if ('error' in read) completedAt.invalid(completedIndexes, `error parsing completedIndexes: ${read.error}`)
  }
  if (changed.failedIndexes && isSet(completions) && isSet(backoffLimitPerIndex) && isSet(failedIndexes)) {
    const read = readIndexes(failedIndexes, completions)
    if ('error' in read) failedAt.invalid(failedIndexes, `error parsing failedIndexes: ${read.error}`)
  }
  if (changed.completedIndexes && completedIndexes !== '' && completionMode !== 'Indexed') {
    completedAt.invalid(completedIndexes, 'cannot set non-empty completedIndexes when non-indexed completion mode')
  }
  if (changed.failedIndexes && !isSet(backoffLimitPerIndex) && isSet(failedIndexes)) {
    failedAt.invalid(failedIndexes, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null')
  }
  if ((changed.failedIndexes || changed.completedIndexes) && isSet(completions) && isSet(failedIndexes)) {
    const index = firstOverlap(completedIndexes, failedIndexes, completions)
    if (index !== undefined) failedAt.invalid(failedIndexes, `failedIndexes and completedIndexes overlap at index: ${index}`)
  }
}

/** @param isExtended whether jobs without a success policy may meet their criteria */
function validateCriteria(job: DeepReadonly<Job>, at: FieldPath, isExtended: boolean): void {
  const status: State = job.status ?? {}
  const met = isConditionTrue(status, 'SuccessCriteriaMet')
  const here = at.child('conditions')
  if (!isExtended && met && job.spec?.completionMode !== 'Indexed')
    invalidUnprinted(here, 'cannot set SuccessCriteriaMet to NonIndexed Job')
  if (met && isConditionTrue(status, 'Failed'))
    invalidUnprinted(here, 'cannot set SuccessCriteriaMet=True and Failed=true conditions')
  if (met && isConditionTrue(status, 'FailureTarget')) {
    invalidUnprinted(here, 'cannot set SuccessCriteriaMet=True and FailureTarget=true conditions')
  }
  if (!isExtended && met && !isSet(job.spec?.successPolicy))
    invalidUnprinted(here, 'cannot set SuccessCriteriaMet=True for Job without SuccessPolicy')
  if (isSet(job.spec?.successPolicy) && !met && isConditionTrue(status, 'Complete')) {
    invalidUnprinted(here, 'cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True')
  }
}

/** Final states are immutable, and counters do not decrease. */
function validateProgress(job: DeepReadonly<Job>, old: DeepReadonly<Job>, at: FieldPath): void {
  const status: State = job.status ?? {}
  const before: State = old.status ?? {}
  const here = at.child('conditions')
  for (const type of ['Failed', 'Complete', 'FailureTarget']) {
    if (isConditionTrue(before, type) && !isConditionTrue(status, type))
      invalidUnprinted(here, `cannot disable the terminal ${type}=True condition`)
  }
  const { failed = 0, succeeded = 0, completionTime } = status
  if (failed < (before.failed ?? 0)) at.child('failed').invalid(failed, 'cannot decrease the failed counter')
  const elastic = job.spec?.completionMode === 'Indexed' && job.spec.completions === job.spec.parallelism
  if (!elastic && succeeded < (before.succeeded ?? 0))
    at.child('succeeded').invalid(succeeded, 'cannot decrease the succeeded counter')
  if (isSet(completionTime) && isSet(before.completionTime) && completionTime !== before.completionTime) {
    at.child('completionTime').invalid(printTime(completionTime), 'completionTime cannot be mutated')
  }
  if (isSet(before.startTime) && before.startTime !== status.startTime && job.spec?.suspend !== true) {
    at.child('startTime').required('startTime cannot be removed for unsuspended job')
  }
}

function validateCriteriaProgress(status: State, before: State, at: FieldPath): void {
  const here = at.child('conditions')
  const met = isConditionTrue(status, 'SuccessCriteriaMet')
  if (isConditionTrue(before, 'SuccessCriteriaMet') && !met)
    invalidUnprinted(here, 'cannot disable the SuccessCriteriaMet=True condition')
  if (isConditionTrue(before, 'Complete') && !isConditionTrue(before, 'SuccessCriteriaMet') && met) {
    invalidUnprinted(here, 'cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions')
  }
}
