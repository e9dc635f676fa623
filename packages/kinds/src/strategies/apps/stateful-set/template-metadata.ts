import type { Work } from '@krmkit/base/work'
import { validateAnnotations, validateLabels } from '@krmkit/meta/validation'
import type { PodTemplateSpec } from '../../../types/core-v1.generated.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { emptyPodSpec, validatePodAnnotations } from '../../shared/pod-template.ts'
import type { R } from '../../shared/values.ts'

/** Validates labels and annotations only; pods are validated when they are created. */
export function* validateTemplateMetadata(template: R<PodTemplateSpec>, at: FieldPath): Work {
  const metadata = template.metadata ?? {}
  at.add(validateLabels(metadata.labels, at.child('labels').path()))
  at.add(validateAnnotations(metadata.annotations, at.child('annotations').path()))
  yield* validatePodAnnotations(metadata.annotations, at.child('annotations'), template.spec ?? emptyPodSpec)
}
