/** VolumeAttributesClass. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import type { VolumeAttributesClass } from '../../../types/storage-v1beta1.generated.ts'
import { deepEqual } from '../../shared/equality.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isEmptyMap } from '../../shared/values.ts'
import { validateParameters, validateProvisioner } from '../provisioner.ts'

function* validateClass(object: DeepReadonly<VolumeAttributesClass>, errors: ContextErrorList): Work {
  yield* validateMetadata(object, errors, { namespaced: false })
  validateProvisioner(object.driverName, errors.child('driverName'))
  const at = errors.child('parameters')
  validateParameters(object.parameters, at)
  if (isEmptyMap(object.parameters)) at.required('must contain at least one key/value pair')
}

export const volumeAttributesClassStrategy = defineStrategy<VolumeAttributesClass>({
  distinctEmpties: [['parameters']],
  validate: creationRules((errors, object) => validateClass(object, errors)),
  validateUpdate: updateRules(function* (errors, object, old) {
    // kube-apiserver before 1.35 validates the class twice on update.
    if (!errors.context.features.release.atLeast('1.35')) yield* validateClass(object, errors)
    yield* validateMetadataUpdate(object, old, errors)
    if (object.driverName !== old.driverName) errors.child('driverName').forbidden('updates to driverName are forbidden.')
    if (!(yield* deepEqual(object.parameters, old.parameters)))
      errors.child('parameters').forbidden('updates to parameters are forbidden.')
    yield* validateClass(object, errors)
  }),
  deleteResponse: 'Object',
})
