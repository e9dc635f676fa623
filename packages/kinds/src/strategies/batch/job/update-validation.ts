/** Update rules of jobs. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { goText } from '@krmkit/meta/go-text'
import type { Job, JobSpec } from '../../../types/batch-v1.generated.ts'
import type { PodTemplateSpec } from '../../../types/core-v1.generated.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { isEmptyMap, isSet, type R } from '../../shared/values.ts'
import { validateSameSelector } from '../../shared/workloads.ts'
import { printFailurePolicy, printSuccessPolicy } from './pod-policies.ts'
import { validateSpecWithSelector } from './validation.ts'

const immutable = 'field is immutable'
const immutableTemplate = [
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
] as const satisfies readonly (keyof JobSpec)[]

/** Validates the specification again, as kube-apiserver does, then the immutable members. */
export function* validateJobUpdate(job: DeepReadonly<Job>, old: DeepReadonly<Job>, errors: ContextErrorList): Work {
  yield* validateSpecWithSelector(job, errors)
  const at = errors.child('spec')
  const spec: R<JobSpec> = job.spec ?? { template: {} }
  const before: R<JobSpec> = old.spec ?? { template: {} }
  validateCompletions(spec, before, at.child('completions'))
  yield* validateSameSelector(spec.selector, before.selector, at.child('selector'))
  const unstarted = before.suspend === true && !isSet(old.status?.startTime)
  const wanted = unstarted ? withSchedulingOf(before.template, spec.template) : before.template
  if (!(yield* semanticEqual(spec.template, wanted))) at.child('template').invalid(goText('core.PodTemplateSpec{}'), immutable)
  for (const name of immutableTemplate)
    if (!(yield* semanticEqual(spec[name], before[name]))) at.child(name).invalid(printMember(spec, name), immutable)
}

function printMember(spec: R<JobSpec>, name: (typeof immutableTemplate)[number]): unknown {
  if (name === 'successPolicy' && isSet(spec.successPolicy)) return goText(printSuccessPolicy(spec.successPolicy))
  if (name === 'podFailurePolicy' && isSet(spec.podFailurePolicy)) return goText(printFailurePolicy(spec.podFailurePolicy))
  return spec[name]
}

/** Completions of an elastic indexed job must equal its parallelism. */
function validateCompletions(spec: R<JobSpec>, old: R<JobSpec>, at: FieldPath): void {
  const { completions } = spec
  if (completions === old.completions) return
  if (spec.completionMode !== 'Indexed') {
    at.invalid(completions, immutable)
    return
  }
  if (isSet(completions) && completions !== spec.parallelism)
    at.invalid(completions, 'can only be modified in tandem with spec.parallelism')
}

type Loose = Record<string, unknown>

/** The old template with the scheduling directives of the new one, which are mutable until the job starts. */
function withSchedulingOf(old: R<PodTemplateSpec>, template: R<PodTemplateSpec>): object {
  const before = (old ?? {}) as { metadata?: Loose; spec?: Loose }
  const next = (template ?? {}) as { metadata?: Loose; spec?: Loose }
  const metadata = withMembersOf(before.metadata, next.metadata, ['labels', 'annotations'])
  const spec = withMembersOf(before.spec, next.spec, ['nodeSelector', 'tolerations', 'schedulingGates'])
  const affinity = withMembersOf(spec.affinity as Loose | undefined, next.spec?.affinity as Loose | undefined, ['nodeAffinity'])
  if (isSet(next.spec?.affinity) || !isEmptyMap(affinity)) spec.affinity = affinity
  else delete spec.affinity
  return { ...before, ...(isEmptyMap(metadata) ? {} : { metadata }), spec }
}

/** A copy of `object` with `members` of `from`. */
function withMembersOf(object: Loose | undefined, from: Loose | undefined, members: readonly string[]): Loose {
  const result: Loose = { ...object }
  for (const member of members) {
    if (from?.[member] === undefined) delete result[member]
    else result[member] = from[member]
  }
  return result
}
