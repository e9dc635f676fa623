/** What of a job may change. */
import { type DeepReadonly, goText } from '@krmkit/meta'
import type { Job, JobSpec } from '../../types/batch-v1.generated.ts'
import type { PodSpec, PodTemplateSpec } from '../../types/core-v1.generated.ts'
import type { Place, Report } from '../shared/place.ts'
import { copy, isEmptyMap, isSet, keep, type R, semanticEqual } from '../shared/values.ts'
import { checkSameSelector } from '../shared/workloads.ts'
import { checkSpecWithSelector } from './job-rules.ts'

const immutable = 'field is immutable'
const frozen = ['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy'] as const satisfies readonly (keyof JobSpec)[]

/** The specification again (as the stock server does), then what may not change. */
export function checkJobUpdate(job: DeepReadonly<Job>, old: DeepReadonly<Job>, report: Report): void {
  checkSpecWithSelector(job, report)
  const at = report.at('spec')
  const spec: R<JobSpec> = job.spec ?? { template: {} }
  const before: R<JobSpec> = old.spec ?? { template: {} }
  checkCompletions(spec, before, at.child('completions'))
  checkSameSelector(spec.selector, before.selector, at.child('selector'))
  const unstarted = before.suspend === true && !isSet(old.status?.startTime)
  const wanted = unstarted ? withSchedulingOf(before.template, spec.template) : before.template
  if (!semanticEqual(spec.template, wanted)) at.child('template').invalid(goText('core.PodTemplateSpec{}'), immutable)
  for (const name of frozen) if (!semanticEqual(spec[name], before[name])) at.child(name).invalid(spec[name], immutable)
}

/** Completions of an indexed job follow its parallelism. */
function checkCompletions(spec: R<JobSpec>, old: R<JobSpec>, at: Place): void {
  const { completions } = spec
  if (completions === old.completions) return
  if (spec.completionMode !== 'Indexed') return at.invalid(completions, immutable)
  if (isSet(completions) && completions !== spec.parallelism) at.invalid(completions, 'can only be modified in tandem with spec.parallelism')
}

/** The old template with everything that may be decided until a job starts, taken from the new one. */
function withSchedulingOf(old: R<PodTemplateSpec>, template: R<PodTemplateSpec>): PodTemplateSpec {
  const result: PodTemplateSpec = copy(old ?? {})
  const metadata = { ...result.metadata }
  keep(metadata, template?.metadata ?? {}, 'labels')
  keep(metadata, template?.metadata ?? {}, 'annotations')
  result.metadata = metadata
  const spec: PodSpec = { ...(result.spec ?? { containers: [] }) }
  const next = template?.spec ?? { containers: [] }
  keep(spec, next as PodSpec, 'nodeSelector')
  keep(spec, next as PodSpec, 'tolerations')
  keep(spec, next as PodSpec, 'schedulingGates')
  const affinity = { ...spec.affinity }
  keep(affinity, next.affinity ?? {}, 'nodeAffinity')
  if (isSet(next.affinity)) spec.affinity = affinity
  else if (isEmptyMap(affinity)) delete spec.affinity
  result.spec = spec
  return result
}
