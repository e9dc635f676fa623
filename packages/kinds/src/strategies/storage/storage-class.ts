/** Storage classes. @see Configuration and storage specification, 2.6 */
import type { DeepReadonly } from '@krmkit/meta'
import type { StorageClass } from '../../types/storage-v1.generated.ts'
import type { Report } from '../shared/field-path.ts'
import { checkMetadata, checkMetadataUpdate } from '../shared/metadata.ts'
import { nodeLabelWarning } from '../shared/node-labels.ts'
import { checkTopologyTerms } from '../shared/node-selector.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isEmpty, isEmptyMap, isSet, semanticEqual } from '../shared/values.ts'
import { checkParameters, checkProvisioner } from './provisioner.ts'

const reclaimPolicies = ['Delete', 'Retain']
const bindingModes = ['Immediate', 'WaitForFirstConsumer']

function checkClass(object: DeepReadonly<StorageClass>, report: Report): void {
  checkMetadata(object, report, { namespaced: false })
  checkProvisioner(object.provisioner, report.at('provisioner'))
  checkParameters(object.parameters, report.at('parameters'))
  const { reclaimPolicy, volumeBindingMode } = object
  if (!isEmpty(reclaimPolicy) && !reclaimPolicies.includes(reclaimPolicy)) {
    report.at('reclaimPolicy').notSupported(reclaimPolicy, reclaimPolicies)
  }
  if (!isSet(volumeBindingMode)) report.at('volumeBindingMode').required()
  else if (!bindingModes.includes(volumeBindingMode)) report.at('volumeBindingMode').notSupported(volumeBindingMode, bindingModes)
  checkTopologyTerms(object.allowedTopologies, report.at('allowedTopologies'))
}

function checkFrozen(object: DeepReadonly<StorageClass>, old: DeepReadonly<StorageClass>, report: Report): void {
  const same = isEmptyMap(object.parameters) ? isEmptyMap(old.parameters) : semanticEqual(object.parameters, old.parameters)
  if (!same) report.at('parameters').forbidden('updates to parameters are forbidden.')
  if (object.provisioner !== old.provisioner) report.at('provisioner').forbidden('updates to provisioner are forbidden.')
  if (object.reclaimPolicy !== old.reclaimPolicy) report.at('reclaimPolicy').forbidden('updates to reclaimPolicy are forbidden.')
  if (object.volumeBindingMode !== old.volumeBindingMode) {
    report.at('volumeBindingMode').invalid(object.volumeBindingMode, 'field is immutable')
  }
}

export const storageClassStrategy = defineStrategy<StorageClass>({
  keepInMemory: true,
  defaults(object) {
    object.reclaimPolicy ??= 'Delete'
    object.volumeBindingMode ??= 'Immediate'
  },
  validate(object, context) {
    return findings(context, (report) => checkClass(object, report))
  },
  validateUpdate(object, old, context) {
    return findings(context, (report) => {
      checkClass(object, report)
      checkMetadataUpdate(object, old, report)
      checkFrozen(object, old, report)
    })
  },
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
  deleteAnswer: 'Object',
})
