/** Labels that select the pods of a job. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly, NamingProfile } from '@krmkit/meta'
import type { Job } from '../../../types/batch-v1.generated.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { goSelector, goStringMap } from '../../shared/go-form.ts'
import { withDefaultMembers } from '../../shared/map-members.ts'
import { isEmptyMap, isSet, own } from '../../shared/values.ts'
import { compileSelector } from '../../shared/workloads.ts'

const legacyJobName = 'job-name'
const legacyControllerUid = 'controller-uid'

interface JobLabels {
  readonly jobName: string
  readonly controllerUid: string
  /** Label names with a domain. */
  readonly prefixed: readonly string[]
}

/** Names of the generated labels. */
export function controllerUidLabels({ domain }: NamingProfile): JobLabels {
  const jobName = `batch.${domain}/job-name`
  const controllerUid = `batch.${domain}/controller-uid`
  return { jobName, controllerUid, prefixed: [jobName, controllerUid] }
}

/**
 * A job without labels has those of its template. Both are the same map, as in kube-apiserver, where labels that are generated for the
 * template (`addJobLabels`) become labels of the job. A webhook that changes the job ends that.
 */
export function takeTemplateLabels(job: Job): void {
  const labels = job.spec?.template?.metadata?.labels
  if (isSet(labels) && isEmptyMap(job.metadata.labels)) job.metadata.labels = labels
}

/** Adds the generated labels and selector, which follow from the job's name and uid; existing labels are kept. */
export function* addJobLabels(job: Job, profile: NamingProfile): Work {
  const { jobName, controllerUid } = controllerUidLabels(profile)
  const { name = '', uid = '' } = job.metadata
  job.spec ??= { template: {} }
  job.spec.template ??= {}
  const template = job.spec.template
  const given = template.metadata?.labels
  const sharesLabels = given !== undefined && job.metadata.labels === given
  const labels = { [jobName]: name, [legacyJobName]: name, [legacyControllerUid]: uid, [controllerUid]: uid }
  const complete = yield* withDefaultMembers(given, labels)
  template.metadata = { ...template.metadata, labels: complete }
  if (sharesLabels) job.metadata.labels = complete
  const selector = job.spec.selector ?? {}
  const matchLabels = yield* withDefaultMembers(selector.matchLabels, { [controllerUid]: uid })
  job.spec.selector = { ...selector, matchLabels }
}

/** Generated labels must be those of this job. */
export function validateGeneratedSelector(
  job: DeepReadonly<Job>,
  errors: ContextErrorList,
  { prefixedLabels }: { readonly prefixedLabels: boolean },
): void {
  const { spec, metadata } = job
  if (spec?.manualSelector === true || !isSet(spec?.selector)) return
  const { name = '', uid = '' } = metadata
  if (uid === '') errors.child('metadata').child('uid').required()
  const { jobName, controllerUid } = controllerUidLabels(errors.context.profile)
  const at = errors.child('spec').child('template').child('metadata')
  const expected: Record<string, string> = { [legacyControllerUid]: uid, [legacyJobName]: name }
  if (prefixedLabels) Object.assign(expected, { [controllerUid]: uid, [jobName]: name })
  for (const [label, value] of Object.entries(expected)) validateLabel(spec.template?.metadata?.labels, at, { label, value })
  const selector = compileSelector(spec.selector)
  if (selector !== undefined && !selector.matches(expected)) {
    errors.child('spec').child('selector').invalid(goSelector(spec.selector), '`selector` not auto-generated')
  }
}

type Labels = Readonly<Record<string, string>> | undefined

function validateLabel(
  labels: Labels,
  at: FieldPath,
  { label, value }: { readonly label: string; readonly value: string },
): void {
  const here = at.child('labels')
  const found = own(labels, label)
  if (found === undefined) here.key(label).required(`must be '${value}'`)
  else if (found !== value) here.key(label).invalidText(goStringMap(labels), `must be '${value}'`)
}
