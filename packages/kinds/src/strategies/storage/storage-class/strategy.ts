/** StorageClass. @see Configuration and storage specification, 2.6 */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import type { StorageClass } from '../../../types/storage-v1.generated.ts'
import { deepEqual } from '../../shared/equality.ts'
import type { ContextErrorList } from '../../shared/field-path.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { nodeLabelWarning } from '../../shared/node-labels.ts'
import { validateTopologyTerms } from '../../shared/node-selector.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet } from '../../shared/values.ts'
import { validateParameters, validateProvisioner } from '../provisioner.ts'

const reclaimPolicies = ['Delete', 'Retain']
const bindingModes = ['Immediate', 'WaitForFirstConsumer']

function* validateClass(object: DeepReadonly<StorageClass>, errors: ContextErrorList): Work {
  yield* validateMetadata(object, errors, { namespaced: false })
  validateProvisioner(object.provisioner, errors.child('provisioner'))
  validateParameters(object.parameters, errors.child('parameters'))
  const { reclaimPolicy, volumeBindingMode } = object
  if (!isEmpty(reclaimPolicy) && !reclaimPolicies.includes(reclaimPolicy)) {
    errors.child('reclaimPolicy').notSupported(reclaimPolicy, reclaimPolicies)
  }
  if (!isSet(volumeBindingMode)) errors.child('volumeBindingMode').required()
  else if (!bindingModes.includes(volumeBindingMode))
    errors.child('volumeBindingMode').notSupported(volumeBindingMode, bindingModes)
  validateTopologyTerms(object.allowedTopologies, errors.child('allowedTopologies'))
}

function* validateImmutableFields(
  object: DeepReadonly<StorageClass>,
  old: DeepReadonly<StorageClass>,
  errors: ContextErrorList,
): Work {
  const isLater = errors.context.features.release.atLeast('1.36')
  const refuse = (member: 'parameters' | 'provisioner' | 'reclaimPolicy'): void => {
    if (isLater) errors.child(member).invalid(object[member] ?? null, 'field is immutable')
    else errors.child(member).forbidden(`updates to ${member} are forbidden.`)
  }
  if (!(yield* deepEqual(object.parameters, old.parameters))) refuse('parameters')
  if (object.provisioner !== old.provisioner) refuse('provisioner')
  if (object.reclaimPolicy !== old.reclaimPolicy) refuse('reclaimPolicy')
  if (object.volumeBindingMode !== old.volumeBindingMode) {
    errors.child('volumeBindingMode').invalid(object.volumeBindingMode, 'field is immutable')
  }
}

export const storageClassStrategy = defineStrategy<StorageClass>({
  keepInMemory: true,
  distinctEmpties: [['parameters']],
  defaults(object) {
    object.reclaimPolicy ??= 'Delete'
    object.volumeBindingMode ??= 'Immediate'
  },
  validate: creationRules((errors, object) => validateClass(object, errors)),
  validateUpdate: updateRules(function* (errors, object, old) {
    yield* validateClass(object, errors)
    yield* validateMetadataUpdate(object, old, errors)
    yield* validateImmutableFields(object, old, errors)
  }),
  warnings(object, _old, { profile }) {
    const texts: string[] = []
    for (const [i, term] of (object.allowedTopologies ?? []).entries()) {
      for (const [j, { key }] of (term.matchLabelExpressions ?? []).entries()) {
        const text = nodeLabelWarning(key, profile)
        if (text !== undefined) texts.push(`allowedTopologies[${i}].matchLabelExpressions[${j}].key: ${text}`)
      }
    }
    return texts
  },
  deleteResponse: 'Object',
})
