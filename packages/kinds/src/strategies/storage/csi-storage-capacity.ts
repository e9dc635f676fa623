/** Room for volumes that drivers report. @see Configuration and storage specification, 2.10 */
import { type DeepReadonly, validateDns1123Subdomain } from '@krmkit/meta'
import type { CSIStorageCapacity } from '../../types/storage-v1.generated.ts'
import type { Report } from '../shared/field-path.ts'
import { goSelector } from '../shared/go-form.ts'
import { checkLabelSelector } from '../shared/labels.ts'
import { checkMetadata, checkMetadataUpdate } from '../shared/metadata.ts'
import { checkAmountNotNegative } from '../shared/quantities.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isSet, semanticEqual } from '../shared/values.ts'

function checkCapacity(object: DeepReadonly<CSIStorageCapacity>, report: Report): void {
  checkMetadata(object, report, { namespaced: true })
  checkLabelSelector(object.nodeTopology, report.at('nodeTopology'))
  const name = object.storageClassName ?? ''
  report.at('storageClassName').invalidAll(name, validateDns1123Subdomain(name))
  if (isSet(object.capacity)) checkAmountNotNegative(object.capacity, report.at('capacity'))
}

export const csiStorageCapacityStrategy = defineStrategy<CSIStorageCapacity>({
  allowUnconditionalUpdate: false,
  validate(object, context) {
    return findings(context, (report) => checkCapacity(object, report))
  },
  validateUpdate(object, old, context) {
    return findings(context, (report) => {
      checkCapacity(object, report)
      checkMetadataUpdate(object, old, report)
      const frozen = 'field is immutable'
      if (!semanticEqual(object.nodeTopology, old.nodeTopology))
        report.at('nodeTopology').invalid(goSelector(object.nodeTopology), frozen)
      if (object.storageClassName !== old.storageClassName) report.at('storageClassName').invalid(object.storageClassName, frozen)
    })
  },
})
