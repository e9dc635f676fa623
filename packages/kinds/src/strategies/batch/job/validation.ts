/** Validation of jobs. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { validateDns1123Label } from '@krmkit/meta/names'
import type { Job, JobSpec } from '../../../types/batch-v1.generated.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { validateSelector, validateSelectorMatch } from '../../shared/labels.ts'
import { validateMetadata } from '../../shared/metadata.ts'
import { isSet, type R } from '../../shared/values.ts'
import { compileSelector } from '../../shared/workloads.ts'
import { validateGeneratedSelector } from './labels.ts'
import { validateJobSpec } from './spec-validation.ts'

const emptySpec: R<JobSpec> = Object.freeze({ template: {} })

/** Validates a whole job, new or updated. */
export function* validateJob(
  job: DeepReadonly<Job>,
  errors: ContextErrorList,
  options: { readonly prefixedLabels: boolean },
): Work {
  yield* validateMetadata(job, errors, { namespaced: true })
  validateGeneratedSelector(job, errors, options)
  yield* validateSpecWithSelector(job, errors)
  validateLongestName(job, errors)
}

/** The name of a pod has the index of its completion behind that of the job. */
export function validateLongestName(job: DeepReadonly<Job>, errors: ContextErrorList): void {
  const { completionMode, completions = 0 } = job.spec ?? emptySpec
  if (completionMode !== 'Indexed' || completions <= 0) return
  const name = job.metadata.name ?? ''
  const longest = `${name}-${completions - 1}`
  if (validateDns1123Label(longest).length > 0) {
    errors.child('metadata').child('name').invalid(name, `will not able to create pod with invalid DNS label: ${longest}`)
  }
}

/** Validates the specification and that the selector matches the template. */
export function* validateSpecWithSelector(job: DeepReadonly<Job>, errors: ContextErrorList): Work {
  const spec = job.spec ?? emptySpec
  const at = errors.child('spec')
  yield* validateJobSpec(spec, at)
  if (isSet(spec.selector)) yield* validateSelector(spec.selector, at.child('selector'))
  else at.child('selector').required()
  // A large selector takes a step to compile, and one to match.
  yield true
  const selector = compileSelector(spec.selector)
  yield true
  if (selector !== undefined) yield* validateSelectorMatch(selector, spec.template?.metadata?.labels, at.child('template'))
}
