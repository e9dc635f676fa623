/** CSINode. @see Configuration and storage specification, 2.9 */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { goQuote, goStrings, goText, utf8Length } from '@krmkit/meta/go-text'
import type { CSINode, CSINodeDriver } from '../../../types/storage-v1.generated.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { goPointer, goStruct } from '../../shared/go-form.ts'
import { validateMetadata } from '../../shared/metadata.ts'
import { validateQualifiedName } from '../../shared/names.ts'
import { validateNotNegative } from '../../shared/numbers.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import { validateDriverName } from '../../shared/volume-network.ts'
import { csiNodeStatus, dropStatus, keepStatus } from './status.ts'

const maxNodeId = 256

function* validateNode(node: DeepReadonly<CSINode>, errors: ContextErrorList): Work {
  yield* validateMetadata(node, errors, { namespaced: false })
  const names = new Set<string>()
  for (const [i, driver] of (node.spec?.drivers ?? []).entries()) {
    const at = errors.child('spec').child('drivers').index(i)
    const { name = '', nodeID = '' } = driver
    validateDriverName(name, at.child('name'))
    if (nodeID === '') at.child('nodeID').required()
    if (utf8Length(nodeID) > maxNodeId) at.child('nodeID').invalid(nodeID, `must be ${maxNodeId} characters or less`)
    validateNotNegative(driver.allocatable?.count, at.child('allocatable').child('count'))
    if (names.has(name)) at.child('name').duplicate(name)
    names.add(name)
    validateTopologyKeys(driver.topologyKeys ?? [], at)
  }
}

/** Errors have the path of the driver, as on kube-apiserver. */
function validateTopologyKeys(keys: readonly string[], at: FieldPath): void {
  const seen = new Set<string>()
  for (const key of keys) {
    if (key === '') at.required()
    if (seen.has(key)) at.duplicate(key)
    seen.add(key)
    validateQualifiedName(key, at)
  }
}

function printDriver({ name, nodeID, topologyKeys, allocatable }: R<CSINodeDriver>) {
  return goText(
    goStruct('storage.CSINodeDriver', {
      Name: goQuote(name),
      NodeID: goQuote(nodeID),
      TopologyKeys: isEmpty(topologyKeys) ? '[]string(nil)' : goStrings(topologyKeys),
      Allocatable: goPointer(allocatable, 'storage.VolumeNodeResources'),
    }),
  )
}

/** Drivers may be added and removed but are immutable. Mutable counts are left out of the comparison and of the message. */
function* validateImmutableFields(node: DeepReadonly<CSINode>, old: DeepReadonly<CSINode>, errors: ContextErrorList): Work {
  const mutable = gateEnabled('MutableCSINodeAllocatableCount', errors.context.features)
  const compared = ({ allocatable, ...driver }: R<CSINodeDriver>): R<CSINodeDriver> =>
    mutable || !isSet(allocatable) ? driver : { ...driver, allocatable }
  const drivers = new Map<string, R<CSINodeDriver>[]>()
  for (const driver of (node.spec?.drivers ?? []).map(compared)) {
    const namesakes = drivers.get(driver.name)
    if (namesakes === undefined) drivers.set(driver.name, [driver])
    else namesakes.push(driver)
  }
  for (const before of (old.spec?.drivers ?? []).map(compared)) {
    for (const driver of drivers.get(before.name) ?? []) {
      if (!(yield* semanticEqual(driver, before)))
        errors.child('spec').child('drivers').invalid(printDriver(driver), 'field is immutable')
    }
  }
}

export const csiNodeStrategy = defineStrategy<CSINode>({
  allowUnconditionalUpdate: false,
  prepareForCreate: (node) => dropStatus(node),
  prepareForUpdate: keepStatus,
  subresources: { status: csiNodeStatus },
  validate: creationRules((errors, node) => validateNode(node, errors)),
  validateUpdate: updateRules(function* (errors, node, old) {
    // kube-apiserver before 1.36 validates the object twice on update.
    if (!errors.context.features.release.atLeast('1.36')) yield* validateNode(node, errors)
    yield* validateNode(node, errors)
    yield* validateImmutableFields(node, old, errors)
  }),
  deleteResponse: 'Object',
})
