/** Nodes. */
import { type DeepReadonly, goStrings, parseCIDR, validateCIDR } from '@krmkit/meta'
import type { Node } from '../../types/core-v1.generated.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { checkMetadata, checkMetadataUpdate, keepMembers } from '../shared/metadata.ts'
import { nodeLabelWarning } from '../shared/node-labels.ts'
import { checkTaints } from '../shared/node-selector.ts'
import { roundUp } from '../shared/pod-defaults.ts'
import { checkResourceAmount } from '../shared/resource-names.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isEmpty, isSet, own, sortedKeys } from '../shared/values.ts'

/** The single range and the list of ranges say the same; the single one decides. */
function joinRanges(node: Node): void {
  const { spec } = node
  if (!isSet(spec)) return
  if (!isEmpty(spec.podCIDR) && spec.podCIDRs?.[0] !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR]
  else if (isEmpty(spec.podCIDR) && !isEmpty(spec.podCIDRs?.[0])) spec.podCIDR = spec.podCIDRs?.[0] as string
}

function checkResources(node: DeepReadonly<Node>, report: Report): void {
  for (const kind of ['capacity', 'allocatable'] as const) {
    const amounts = node.status?.[kind]
    for (const name of sortedKeys(amounts)) {
      checkResourceAmount(name, own(amounts, name) ?? '0', report.at('status').child(kind).child(name))
    }
  }
}

function checkRanges(ranges: readonly string[], at: FieldPath): void {
  for (const [i, range] of ranges.entries()) at.index(i).invalidAll(range, validateCIDR(range))
  if (ranges.length < 2) return
  const families = ranges.map((range) => parseCIDR(range)?.address.family)
  if (new Set(families).size !== 2 || ranges.length > 2) {
    at.invalidText(goStrings(ranges), 'may specify no more than one CIDR for each IP family')
  }
  const seen = new Set<string>()
  for (const [i, range] of ranges.entries()) {
    if (seen.has(range)) at.index(i).duplicate(range)
    seen.add(range)
  }
}

function checkNode(node: DeepReadonly<Node>, report: Report): void {
  checkMetadata(node, report, { namespaced: false })
  checkTaints(node.spec?.taints, report.at('metadata').child('taints'))
  checkResources(node, report)
  checkRanges(node.spec?.podCIDRs ?? [], report.at('spec').child('podCIDRs'))
}

function checkNodeUpdate(node: DeepReadonly<Node>, old: DeepReadonly<Node>, report: Report): void {
  checkMetadataUpdate(node, old, report)
  checkResources(node, report)
  const seen = new Set<string>()
  for (const [i, address] of (node.status?.addresses ?? []).entries()) {
    const text = `core.NodeAddress{Type:${JSON.stringify(address.type)}, Address:${JSON.stringify(address.address)}}`
    if (seen.has(text)) report.at('status').child('addresses').index(i).duplicate(text)
    seen.add(text)
  }
  const at = report.at('spec')
  const before = old.spec?.podCIDRs ?? []
  const ranges = node.spec?.podCIDRs ?? []
  if (before.length > 0) {
    const detail = 'node updates may not change podCIDR except from "" to valid'
    if (before.length !== ranges.length) at.child('podCIDRs').forbidden(detail)
    else for (const [i, range] of ranges.entries()) if (range !== before[i]) at.child('podCIDRs').forbidden(detail)
  }
  const provider = old.spec?.providerID
  if (!isEmpty(provider) && provider !== node.spec?.providerID) {
    at.child('providerID').forbidden('node updates may not change providerID except from "" to valid')
  }
  checkTaints(node.spec?.taints, report.at('metadata').child('taints'))
  if ((old.spec?.externalID ?? '') !== (node.spec?.externalID ?? '')) at.child('externalID').forbidden('may not be updated')
}

export const nodeStrategy = defineStrategy<Node>({
  defaults(node) {
    joinRanges(node)
    const { status } = node
    if (!isSet(status)) return
    roundUp(status.capacity)
    roundUp(status.allocatable)
    if (isSet(status.capacity) && !isSet(status.allocatable)) status.allocatable = { ...status.capacity }
  },
  prepareForUpdate(node, old) {
    keepMembers(node, old, 'status')
  },
  validate(node, context) {
    return findings(context, (report) => checkNode(node, report))
  },
  validateUpdate(node, old, context) {
    return findings(context, (report) => {
      checkNode(node, report)
      checkNodeUpdate(node, old, report)
    })
  },
  warnings(node, old, { profile }) {
    const texts: string[] = []
    for (const key of sortedKeys(node.metadata.labels)) {
      const text = nodeLabelWarning(key, profile)
      if (text !== undefined && own(old?.metadata.labels, key) === undefined) {
        texts.push(`metadata.labels[${key}]: ${text}`)
      }
    }
    if (isSet(node.spec?.configSource)) texts.push('spec.configSource: the feature is no longer supported')
    if (!isEmpty(node.spec?.externalID)) texts.push('spec.externalID: this field is deprecated, and is unused by Kubernetes')
    return texts
  },
  selectableFields: {
    'spec.unschedulable': (node) => String(node.spec?.unschedulable === true),
  },
  subresources: {
    status: {
      prepareForUpdate(node, old) {
        keepMembers(node, old, 'spec')
      },
      validateUpdate(node, old, context) {
        return findings(context, (report) => checkNodeUpdate(node, old, report))
      },
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
