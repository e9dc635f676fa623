/** CSIStorageCapacity. @see Configuration and storage specification, 2.10 */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { validateDns1123Subdomain } from '@krmkit/meta/names'
import type { CSIStorageCapacity } from '../../types/storage-v1.generated.ts'
import { semanticEqual } from '../shared/equality.ts'
import type { ContextErrorList } from '../shared/field-path.ts'
import { goSelector } from '../shared/go-form.ts'
import { validateSelector } from '../shared/labels.direct.ts'
import { validateMetadata, validateMetadataUpdate } from '../shared/metadata.ts'
import { nodeSelectorWarnings } from '../shared/node-labels.ts'
import { validateAmountNotNegative } from '../shared/quantities.ts'
import { creationRules, defineStrategy, updateRules } from '../shared/strategy.ts'
import { isSet } from '../shared/values.ts'

function* validateCapacity(object: DeepReadonly<CSIStorageCapacity>, errors: ContextErrorList): Work {
  yield* validateMetadata(object, errors, { namespaced: true })
  validateSelector(object.nodeTopology, errors.child('nodeTopology'))
  const name = object.storageClassName ?? ''
  errors.child('storageClassName').invalidAll(name, validateDns1123Subdomain(name))
  if (isSet(object.capacity)) validateAmountNotNegative(object.capacity, errors.child('capacity'))
}

export const csiStorageCapacityStrategy = defineStrategy<CSIStorageCapacity>({
  allowUnconditionalUpdate: false,
  validate: creationRules((errors, object) => validateCapacity(object, errors)),
  validateUpdate: updateRules(function* (errors, object, old) {
    yield* validateCapacity(object, errors)
    yield* validateMetadataUpdate(object, old, errors)
    const frozen = 'field is immutable'
    if (!(yield* semanticEqual(object.nodeTopology, old.nodeTopology)))
      errors.child('nodeTopology').invalid(goSelector(object.nodeTopology), frozen)
    if (object.storageClassName !== old.storageClassName)
      errors.child('storageClassName').invalid(object.storageClassName, frozen)
  }),
  warnings: (object, _old, { profile }) => nodeSelectorWarnings('nodeTopology', object.nodeTopology, profile),
})
