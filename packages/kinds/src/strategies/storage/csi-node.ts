/** What drivers of the container storage interface know of a node. @see Configuration and storage specification, 2.9 */
import { type DeepReadonly, goQuote, goStrings, goText, utf8Length } from '@krmkit/meta'
import type { CSINode, CSINodeDriver } from '../../types/storage-v1.generated.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { goStruct } from '../shared/go-form.ts'
import { checkMetadata } from '../shared/metadata.ts'
import { checkQualifiedName } from '../shared/names.ts'
import { checkNotNegative } from '../shared/numbers.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isEmpty, isSet, type R, semanticEqual } from '../shared/values.ts'
import { checkDriverName } from '../shared/volume-network.ts'

const maxNodeId = 256

function checkNode(node: DeepReadonly<CSINode>, report: Report): void {
  checkMetadata(node, report, { namespaced: false })
  const names = new Set<string>()
  for (const [i, driver] of (node.spec?.drivers ?? []).entries()) {
    const at = report.at('spec').child('drivers').index(i)
    const { name = '', nodeID = '' } = driver
    checkDriverName(name, at.child('name'))
    if (nodeID === '') at.child('nodeID').required()
    if (utf8Length(nodeID) > maxNodeId) at.child('nodeID').invalid(nodeID, `must be ${maxNodeId} characters or less`)
    checkNotNegative(driver.allocatable?.count, at.child('allocatable').child('count'))
    if (names.has(name)) at.child('name').duplicate(name)
    names.add(name)
    checkTopologyKeys(driver.topologyKeys ?? [], at)
  }
}

/** Told of the driver, as on the stock server. */
function checkTopologyKeys(keys: readonly string[], at: FieldPath): void {
  const seen = new Set<string>()
  for (const key of keys) {
    if (key === '') at.required()
    if (seen.has(key)) at.duplicate(key)
    seen.add(key)
    checkQualifiedName(key, at)
  }
}

function printDriver({ name, nodeID, topologyKeys, allocatable }: R<CSINodeDriver>) {
  return goText(
    goStruct('storage.CSINodeDriver', {
      Name: goQuote(name),
      NodeID: goQuote(nodeID),
      TopologyKeys: isEmpty(topologyKeys) ? '[]string(nil)' : goStrings(topologyKeys),
      Allocatable: `(*storage.VolumeNodeResources)(${isSet(allocatable) ? '0x0' : 'nil'})`,
    }),
  )
}

/** Drivers come and go, but do not change. Where counts may change they are left out of the comparison, and of the message. */
function checkFrozen(node: DeepReadonly<CSINode>, old: DeepReadonly<CSINode>, report: Report): void {
  const mutable = report.context.features.enabled('MutableCSINodeAllocatableCount')
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
      if (!semanticEqual(driver, before)) report.at('spec').child('drivers').invalid(printDriver(driver), 'field is immutable')
    }
  }
}

export const csiNodeStrategy = defineStrategy<CSINode>({
  allowUnconditionalUpdate: false,
  validate(node, context) {
    return findings(context, (report) => checkNode(node, report))
  },
  validateUpdate(node, old, context) {
    return findings(context, (report) => {
      // The stock server checks the whole object in both of its steps.
      checkNode(node, report)
      checkNode(node, report)
      checkFrozen(node, old, report)
    })
  },
  deleteAnswer: 'Object',
})
