import type { Work } from '@krmkit/base/work'
import type { PodTemplateSpec } from '../../../types/core-v1.generated.ts'
import type { LabelSelector } from '../../../types/meta-v1.generated.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { goSelector } from '../../shared/go-form.ts'
import { validateSelectorMatch } from '../../shared/labels.ts'
import { validateAlwaysRunning, validatePodTemplate } from '../../shared/pod-template.ts'
import type { R } from '../../shared/values.ts'
import { compileSelector } from '../../shared/workloads.ts'

/** Validates the template of a replica set and that the selector matches it. */
export function* validateReplicaTemplate(
  spec: { readonly selector: R<LabelSelector> | null; readonly template: R<PodTemplateSpec> },
  at: FieldPath,
): Work {
  yield true
  const selector = compileSelector(spec.selector)
  if (selector === undefined) {
    at.child('selector').invalid(goSelector(spec.selector), 'invalid label selector')
    return
  }
  // A large selector takes a step to compile, and one to match.
  yield true
  const here = at.child('template')
  const template = spec.template ?? {}
  if (!selector.empty) yield* validateSelectorMatch(selector, template.metadata?.labels, here)
  yield true
  yield* validatePodTemplate(template, here)
  validateAlwaysRunning(template, here, 'ReplicaSet')
}
