/** RuntimeClass. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { validateLabels } from '@krmkit/meta/validation'
import type { RuntimeClass, Scheduling } from '../../../types/node-v1.generated.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateDnsLabel } from '../../shared/names.ts'
import { nodeLabelWarning } from '../../shared/node-labels.ts'
import { printToleration, tolerationText, validateTolerations } from '../../shared/node-selector.ts'
import { validateResources } from '../../shared/resources.ts'
import { sortedKeys } from '../../shared/sorted-keys.direct.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isEmptyMap, isSet, type R } from '../../shared/values.ts'

function* validateClass(object: DeepReadonly<RuntimeClass>, errors: ContextErrorList): Work {
  yield* validateMetadata(object, errors, { namespaced: false, bareFinalizers: true })
  validateDnsLabel(object.handler ?? '', errors.child('handler'))
  if (isSet(object.overhead))
    validateResources({ limits: object.overhead.podFixed ?? {} }, errors.child('overhead'), { claims: new Set() })
  if (isSet(object.scheduling)) yield* validateScheduling(object.scheduling, errors.child('scheduling'))
}

function* validateScheduling({ nodeSelector, tolerations = [] }: R<Scheduling>, at: FieldPath): Work {
  if (!isEmptyMap(nodeSelector)) at.add(validateLabels(nodeSelector, at.child('nodeSelector').path()))
  const here = at.child('tolerations')
  // kube-apiserver before 1.35 repeats the path step.
  const repeats = !at.errors.context.features.release.atLeast('1.35')
  yield* validateTolerations(tolerations, repeats ? here.child('tolerations') : here)
  const seen = new Set<string>()
  for (const [i, toleration] of tolerations.entries()) {
    const text = tolerationText(toleration, { seconds: false })
    if (seen.has(text)) here.index(i).duplicate(printToleration(toleration))
    seen.add(text)
  }
}

export const runtimeClassStrategy = defineStrategy<RuntimeClass>({
  keepInMemory: true,
  warnings: ({ scheduling }, _old, { profile }) =>
    sortedKeys(scheduling?.nodeSelector).flatMap((label) => {
      const text = nodeLabelWarning(label, profile)
      return text === undefined ? [] : [`scheduling.nodeSelector: ${text}`]
    }),
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  validate: creationRules((errors, object) => validateClass(object, errors)),
  validateUpdate: updateRules(function* (errors, object, old) {
    yield* validateClass(object, errors)
    yield* validateMetadataUpdate(object, old, errors, { bareFinalizers: true })
    if (object.handler !== old.handler) errors.child('handler').invalid(object.handler ?? '', 'field is immutable')
  }),
})
