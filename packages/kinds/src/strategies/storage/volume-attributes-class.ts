/** Classes of volume attributes: what a driver is told when a volume changes. */
import type { DeepReadonly } from '@krmkit/meta'
import type { VolumeAttributesClass } from '../../types/storage-v1beta1.generated.ts'
import type { Report } from '../shared/field-path.ts'
import { checkMetadata, checkMetadataUpdate } from '../shared/metadata.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isEmptyMap, semanticEqual } from '../shared/values.ts'
import { checkParameters, checkProvisioner } from './provisioner.ts'

function checkClass(object: DeepReadonly<VolumeAttributesClass>, report: Report): void {
  checkMetadata(object, report, { namespaced: false })
  checkProvisioner(object.driverName, report.at('driverName'))
  const at = report.at('parameters')
  checkParameters(object.parameters, at)
  if (isEmptyMap(object.parameters)) at.required('must contain at least one key/value pair')
}

export const volumeAttributesClassStrategy = defineStrategy<VolumeAttributesClass>({
  allowUnconditionalUpdate: false,
  validate(object, context) {
    return findings(context, (report) => checkClass(object, report))
  },
  validateUpdate(object, old, context) {
    return findings(context, (report) => {
      // The stock server checks the whole class in both of its steps.
      checkClass(object, report)
      checkMetadataUpdate(object, old, report)
      if (object.driverName !== old.driverName) report.at('driverName').forbidden('updates to driverName are forbidden.')
      if (!semanticEqual(object.parameters, old.parameters))
        report.at('parameters').forbidden('updates to parameters are forbidden.')
      checkClass(object, report)
    })
  },
  deleteAnswer: 'Object',
})
