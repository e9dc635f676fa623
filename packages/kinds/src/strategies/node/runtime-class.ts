/** Runtime classes. */
import { type DeepReadonly, validateLabels } from '@krmkit/meta'
import type { RuntimeClass, Scheduling } from '../../types/node-v1.generated.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { checkMetadata, checkMetadataUpdate } from '../shared/metadata.ts'
import { checkDnsLabel } from '../shared/names.ts'
import { checkTolerations, tolerationText } from '../shared/node-selector.ts'
import { roundUp } from '../shared/pod-defaults.ts'
import { checkResources } from '../shared/resources.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isEmptyMap, isSet, type R } from '../shared/values.ts'

function checkClass(object: DeepReadonly<RuntimeClass>, report: Report): void {
  checkMetadata(object, report, { namespaced: false })
  checkDnsLabel(object.handler ?? '', report.at('handler'))
  if (isSet(object.overhead))
    checkResources({ limits: object.overhead.podFixed ?? {} }, report.at('overhead'), { claims: new Set() })
  if (isSet(object.scheduling)) checkScheduling(object.scheduling, report.at('scheduling'))
}

function checkScheduling({ nodeSelector, tolerations = [] }: R<Scheduling>, at: FieldPath): void {
  if (!isEmptyMap(nodeSelector)) at.add(validateLabels(nodeSelector, at.child('nodeSelector').path()))
  const here = at.child('tolerations')
  // The doubled step is the stock server's.
  checkTolerations(tolerations, here.child('tolerations'))
  const seen = new Set<string>()
  for (const [i, toleration] of tolerations.entries()) {
    const text = tolerationText(toleration)
    if (seen.has(text)) here.index(i).duplicate(toleration)
    seen.add(text)
  }
}

export const runtimeClassStrategy = defineStrategy<RuntimeClass>({
  keepInMemory: true,
  allowUnconditionalUpdate: false,
  defaults(object) {
    roundUp(object.overhead?.podFixed)
  },
  validate(object, context) {
    return findings(context, (report) => checkClass(object, report))
  },
  validateUpdate(object, old, context) {
    return findings(context, (report) => {
      checkMetadataUpdate(object, old, report)
      if (object.handler !== old.handler) report.at('handler').invalid(object.handler ?? '', 'field is immutable')
    })
  },
})
