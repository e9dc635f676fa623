/** What makes a job valid. */
import { type DeepReadonly, validateDns1123Label } from '@krmkit/meta'
import type { Job, JobSpec } from '../../types/batch-v1.generated.ts'
import type { Report } from '../shared/field-path.ts'
import { checkLabelSelector, checkSelectorMatch } from '../shared/labels.ts'
import { checkMetadata } from '../shared/metadata.ts'
import { isSet, type R } from '../shared/values.ts'
import { usableSelector } from '../shared/workloads.ts'
import { checkGeneratedSelector } from './job-labels.ts'
import { checkJobSpec } from './job-spec.ts'

const emptySpec: R<JobSpec> = Object.freeze({ template: {} })

/** A whole job, new or changed. */
export function checkJob(job: DeepReadonly<Job>, report: Report, options: { readonly prefixedLabels: boolean }): void {
  checkMetadata(job, report, { namespaced: true })
  checkGeneratedSelector(job, report, options)
  checkSpecWithSelector(job, report)
  const { completionMode, completions = 0 } = job.spec ?? emptySpec
  if (completionMode !== 'Indexed' || completions <= 0) return
  const name = job.metadata.name ?? ''
  const longest = `${name}-${completions - 1}`
  if (validateDns1123Label(longest).length > 0) {
    report.at('metadata').child('name').invalid(name, `will not able to create pod with invalid DNS label: ${longest}`)
  }
}

/** The specification and its selector, which must find the template's pods. */
export function checkSpecWithSelector(job: DeepReadonly<Job>, report: Report): void {
  const spec = job.spec ?? emptySpec
  const at = report.at('spec')
  checkJobSpec(spec, at)
  if (isSet(spec.selector)) checkLabelSelector(spec.selector, at.child('selector'))
  else at.child('selector').required()
  const selector = usableSelector(spec.selector)
  if (selector !== undefined) checkSelectorMatch(selector, spec.template?.metadata?.labels, at.child('template'))
}
