/** Update rules of jobs. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly, Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { goText } from '@krmkit/meta/go-text'
import type { Job, JobSpec } from '../../../types/batch-v1.generated.ts'
import type { Container, PodSpec, PodTemplateSpec } from '../../../types/core-v1.generated.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { emptyPodSpec } from '../../shared/pod-template.ts'
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
  yield* validateTemplate(job, old, at.child('template'))
  for (const name of immutableTemplate)
    if (!(yield* semanticEqual(spec[name], before[name]))) at.child(name).invalid(printMember(spec, name), immutable)
}

function* validateTemplate(job: DeepReadonly<Job>, old: DeepReadonly<Job>, at: FieldPath): Work {
  const { features } = at.errors.context
  const template: R<PodTemplateSpec> = job.spec?.template ?? {}
  const before: R<PodTemplateSpec> = old.spec?.template ?? {}
  const suspended = old.spec?.suspend === true
  const schedules = gateEnabled('MutableSchedulingDirectivesForSuspendedJobs', features)
    ? isIdle(old, features)
    : suspended && !isSet(old.status?.startTime)
  const wanted = schedules ? withSchedulingOf(before, template) : before
  const resizes = suspended && gateEnabled('MutablePodResourcesForSuspendedJobs', features) && isIdle(old, features)
  if (!resizes) {
    if (!(yield* semanticEqual(template, wanted))) at.invalid(goText('core.PodTemplateSpec{}'), immutable)
    return
  }
  // The labels of the template are not compared, as on kube-apiserver.
  const spec = withResourcesOf((wanted as R<PodTemplateSpec>).spec ?? emptyPodSpec, template.spec ?? emptyPodSpec)
  if (!(yield* semanticEqual(template.spec ?? emptyPodSpec, spec))) at.child('spec').invalid(goText('core.PodSpec{}'), immutable)
}

/** Whether no pod of a suspended job runs. Jobs that have not started count since 1.36. */
function isIdle({ spec, status }: DeepReadonly<Job>, { release }: Features): boolean {
  const isSuspended = status?.conditions?.find(({ type }) => type === 'Suspended')?.status === 'True'
  const unstarted = release.atLeast('1.36') && !isSet(status?.startTime)
  return spec?.suspend === true && (unstarted || isSuspended) && (status?.active ?? 0) === 0
}

/** The old specification with the resources of the new one, which are mutable while the job is suspended. */
function withResourcesOf(old: R<PodSpec>, next: R<PodSpec>): object {
  const result: Loose = { ...old }
  for (const list of ['containers', 'initContainers'] as const) {
    const [now, then] = [next[list] ?? [], old[list] ?? []]
    if (then.length === 0 || now.length !== then.length) continue
    result[list] = then.map((container, i) => {
      const { name, resources } = now[i] as R<Container>
      if (name !== container.name) return container
      const { resources: _, ...rest } = container
      return resources === undefined ? rest : { ...rest, resources }
    })
  }
  return result
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
