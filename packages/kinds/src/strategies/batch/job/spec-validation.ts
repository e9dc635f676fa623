/** Validation of JobSpec, of a job or in a cron job's template. */

import type { Work } from '@krmkit/base/work'
import { validateDomainPrefixedPath } from '@krmkit/meta/names'
import type { JobSpec } from '../../../types/batch-v1.generated.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { validateNotNegative } from '../../shared/numbers.ts'
import { validatePodTemplate } from '../../shared/pod-template.ts'
import { isSet, type R } from '../../shared/values.ts'
import { printSuccessPolicy, validateFailurePolicy, validateSuccessPolicy } from './pod-policies.ts'

const maxIndexedParallelism = 100_000
const maxFailedIndexes = 100_000
const manyCompletions = 100_000
const limitForMany = 10_000
const maxManagedBy = 63

const completionModes = ['NonIndexed', 'Indexed']
const replacementPolicies = ['Failed', 'TerminatingOrFailed']

/** All rules except those of the selector. */
export function* validateJobSpec(spec: R<JobSpec>, at: FieldPath): Work {
  validateNumbers(spec, at)
  const { managedBy } = spec
  if (isSet(managedBy)) {
    at.add(validateDomainPrefixedPath(at.child('managedBy').path(), managedBy))
    if (managedBy.length > maxManagedBy) at.child('managedBy').tooLong(managedBy, maxManagedBy)
  }
  validateCompletionMode(spec, at)
  if (isSet(spec.podFailurePolicy)) validateFailurePolicy(spec, at.child('podFailurePolicy'))
  if (isSet(spec.successPolicy)) {
    const here = at.child('successPolicy')
    if (spec.completionMode !== 'Indexed')
      here.invalidText(printSuccessPolicy(spec.successPolicy), 'requires indexed completion mode')
    else validateSuccessPolicy(spec, here)
  }
  validateReplacementPolicy(spec, at.child('podReplacementPolicy'))
  yield* validatePodTemplate(spec.template ?? {}, at.child('template'))
  validateRestartPolicy(spec, at.child('template').child('spec').child('restartPolicy'))
}

const counts = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const satisfies readonly (keyof JobSpec)[]

function validateNumbers(spec: R<JobSpec>, at: FieldPath): void {
  for (const name of counts) validateNotNegative(spec[name], at.child(name))
  if (isSet(spec.maxFailedIndexes) && !isSet(spec.backoffLimitPerIndex)) {
    at.child('backoffLimitPerIndex').required('when maxFailedIndexes is specified')
  }
}

function validateCompletionMode(spec: R<JobSpec>, at: FieldPath): void {
  const { completionMode: mode, backoffLimitPerIndex, maxFailedIndexes: maxFailed } = spec
  if (isSet(mode) && !completionModes.includes(mode)) at.child('completionMode').notSupported(mode, completionModes)
  if (mode === 'Indexed') validateIndexed(spec, at)
  if (isSet(mode) && mode !== 'NonIndexed') return
  const needsIndexes = 'requires indexed completion mode'
  if (isSet(backoffLimitPerIndex)) at.child('backoffLimitPerIndex').invalid(backoffLimitPerIndex, needsIndexes)
  if (isSet(maxFailed)) at.child('maxFailedIndexes').invalid(maxFailed, needsIndexes)
}

function validateIndexed(spec: R<JobSpec>, at: FieldPath): void {
  const { completions, parallelism = 0, maxFailedIndexes: maxFailed, backoffLimitPerIndex } = spec
  if (!isSet(completions)) at.child('completions').required('when completion mode is Indexed')
  if (parallelism > maxIndexedParallelism) {
    at.child('parallelism').invalid(
      parallelism,
      `must be less than or equal to ${maxIndexedParallelism} when completion mode is Indexed`,
    )
  }
  const failedAt = at.child('maxFailedIndexes')
  if (isSet(completions) && isSet(maxFailed) && maxFailed > completions)
    failedAt.invalid(maxFailed, 'must be less than or equal to completions')
  if (isSet(maxFailed) && maxFailed > maxFailedIndexes)
    failedAt.invalid(maxFailed, `must be less than or equal to ${maxFailedIndexes}`)
  if (!isSet(completions) || completions <= manyCompletions || !isSet(backoffLimitPerIndex)) return
  const limited = `must be less than or equal to ${limitForMany} when completions are above ${manyCompletions} and used with backoff limit per index`
  if (!isSet(maxFailed)) failedAt.required(`must be specified when completions is above ${manyCompletions}`)
  if (parallelism > limitForMany) at.child('parallelism').invalid(parallelism, limited)
  if (isSet(maxFailed) && maxFailed > limitForMany) failedAt.invalid(maxFailed, limited)
}

function validateReplacementPolicy(spec: R<JobSpec>, at: FieldPath): void {
  const policy = spec.podReplacementPolicy
  if (!isSet(policy)) return
  const allowed = isSet(spec.podFailurePolicy) ? ['Failed'] : replacementPolicies
  if (!allowed.includes(policy)) at.notSupported(policy, allowed)
}

function validateRestartPolicy(spec: R<JobSpec>, at: FieldPath): void {
  const policy = spec.template?.spec?.restartPolicy ?? ''
  if (policy === 'Always' || policy === '') at.required('valid values: "OnFailure", "Never"')
  else if (policy !== 'OnFailure' && policy !== 'Never') at.notSupported(policy, ['OnFailure', 'Never'])
  else if (isSet(spec.podFailurePolicy) && policy !== 'Never') {
    at.invalid(policy, 'only "Never" is supported when podFailurePolicy is specified')
  }
}

/** Adds warnings about very large jobs. `at` is the path of the specification. */
export function warnJobSpec(texts: string[], spec: R<JobSpec> | undefined, at: string): void {
  const { completions, parallelism, completionMode } = spec ?? {}
  if (completionMode !== 'Indexed' || (completions ?? 0) <= manyCompletions || (parallelism ?? 0) <= limitForMany) return
  texts.push(
    `${at}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`,
  )
}
