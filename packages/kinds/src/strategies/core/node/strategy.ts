/** Node. */

import { parseCIDR } from '@krmkit/base/ip'
import type { Work } from '@krmkit/base/work'
import type { DeepReadonly, Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { goQuote, goStrings } from '@krmkit/meta/go-text'
import type { Node } from '../../../types/core-v1.generated.ts'
import { rangeWarnings } from '../../shared/address-warnings.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { addMissingMembers, forEachKey } from '../../shared/for-each.ts'
import { dropGatedFields, type GatedFields } from '../../shared/gated-fields.ts'
import { keepMembers, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateTaints } from '../../shared/node-selector.ts'
import { validateIpRange } from '../../shared/older-addresses.ts'
import { validateResourceAmount } from '../../shared/resource-names.ts'
import { roundUp } from '../../shared/round-up.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet } from '../../shared/values.ts'

/** `podCIDR` equals the first item of `podCIDRs`; `podCIDR` decides. */
function joinRanges(node: Node): void {
  const { spec } = node
  if (!isSet(spec)) return
  if (!isEmpty(spec.podCIDR) && spec.podCIDRs?.[0] !== spec.podCIDR) spec.podCIDRs = [spec.podCIDR]
  else if (isEmpty(spec.podCIDR) && !isEmpty(spec.podCIDRs?.[0])) spec.podCIDR = spec.podCIDRs?.[0] as string
}

function* validateResources(node: DeepReadonly<Node>, errors: ContextErrorList): Work {
  for (const kind of ['capacity', 'allocatable'] as const) {
    const at = errors.child('status').child(kind)
    yield* forEachKey(node.status?.[kind], (name, amount) => validateResourceAmount(name, amount, at.child(name)))
  }
}

function validateRanges(ranges: readonly string[], at: FieldPath): void {
  for (const [i, range] of ranges.entries()) validateIpRange(range, at.index(i))
  if (ranges.length < 2) return
  const families = ranges.map((range) => parseCIDR(range)?.address.family)
  const wrong = families.indexOf(undefined)
  if (wrong >= 0) {
    const found = `invalid CIDR[${wrong}]: <nil> (invalid CIDR address: ${ranges[wrong]})`
    at.internal(`invalid PodCIDRs. failed to check with dual stack with error:${found}`)
  }
  if (wrong >= 0 || new Set(families).size !== 2 || ranges.length > 2) {
    at.invalidText(goStrings(ranges), 'may specify no more than one CIDR for each IP family')
  }
}

function* validateNode(node: DeepReadonly<Node>, errors: ContextErrorList): Work {
  yield* validateMetadata(node, errors, { namespaced: false })
  validateTaints(node.spec?.taints, errors.child('metadata').child('taints'))
  yield* validateResources(node, errors)
  const swap = node.status?.nodeInfo?.swap?.capacity
  if (isSet(swap) && swap <= 0)
    errors.child('metadata').child('nodeSwapStatus').child('capacity').invalid(swap, 'must be greater than zero')
  validateRanges(node.spec?.podCIDRs ?? [], errors.child('spec').child('podCIDRs'))
  validateDeclaredFeatures(node, errors)
}

function* validateNodeUpdate(node: DeepReadonly<Node>, old: DeepReadonly<Node>, errors: ContextErrorList): Work {
  yield* validateMetadataUpdate(node, old, errors)
  yield* validateResources(node, errors)
  const seen = new Set<string>()
  for (const [i, address] of (node.status?.addresses ?? []).entries()) {
    const text = `core.NodeAddress{Type:${goQuote(address.type)}, Address:${goQuote(address.address)}}`
    if (seen.has(text)) errors.child('status').child('addresses').index(i).duplicate(text)
    seen.add(text)
  }
  const at = errors.child('spec')
  const before = old.spec?.podCIDRs ?? []
  const ranges = node.spec?.podCIDRs ?? []
  if (before.length > 0) {
    const detail = 'node updates may not change podCIDR except from "" to valid'
    if (before.length !== ranges.length) at.child('podCIDRs').forbidden(detail)
    else for (const [i, range] of ranges.entries()) if (range !== before[i]) at.child('podCIDRs').forbidden(detail)
  }
  const provider = old.spec?.providerID
  if (!isEmpty(provider) && provider !== node.spec?.providerID) {
    const here = at.child('providerID')
    if (!errors.context.features.release.atLeast('1.37'))
      here.forbidden('node updates may not change providerID except from "" to valid')
    else here.invalid(null, `field cannot be ${isEmpty(node.spec?.providerID) ? 'cleared' : 'modified'} once set`)
  }
  validateDeclaredFeatures(node, errors)
  validateTaints(node.spec?.taints, errors.child('metadata').child('taints'))
  if ((old.spec?.externalID ?? '') !== (node.spec?.externalID ?? '')) at.child('externalID').forbidden('may not be updated')
}

interface DeclaredFeatures {
  readonly status?: { readonly declaredFeatures?: readonly string[] | null } | null
}

const featureName = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/
const longestFeature = 253

/** Features that a node of 1.35 declares: sorted names. */
function validateDeclaredFeatures(node: DeepReadonly<Node>, errors: ContextErrorList): void {
  const names = (node as DeclaredFeatures).status?.declaredFeatures ?? []
  const at = errors.child('status').child('declaredFeatures')
  for (const [i, name] of names.entries()) {
    if (name.length > longestFeature)
      at.index(i).invalid(name, `invalid feature name ${goQuote(name)}: must be no more than ${longestFeature} characters`)
    else if (!featureName.test(name)) at.index(i).invalid(name, `invalid feature name ${goQuote(name)}: ${featureForm}`)
    const next = names[i + 1]
    if (next === name) at.index(i + 1).duplicate(next)
    else if (next !== undefined && name > next) at.index(i + 1).invalid(next, 'list must be sorted alphabetically')
  }
}

const featureForm =
  "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"

const laterGates: readonly GatedFields[] = [
  { gate: 'NodeDeclaredFeatures', paths: ['status.declaredFeatures'] },
  { gate: 'InPlacePodVerticalScalingSchedulerPreemption', paths: ['spec.podPreemptionPolicy'] },
]
const supplementalGroups: GatedFields = { gate: 'SupplementalGroupsPolicy', paths: ['status.features'] }

/** Runtime handlers serve two features: they go when both are off, even if the stored node has them. */
function dropDisabled(node: Node, old: DeepReadonly<Node> | undefined, features: Features): void {
  dropGatedFields(node, old, { table: [supplementalGroups, ...laterGates], features })
  const gates = ['RecursiveReadOnlyMounts', 'UserNamespacesSupport']
  if (!gates.some((each) => gateEnabled(each, features))) delete node.status?.runtimeHandlers
}

function* defaultNode(node: Node): Work {
  joinRanges(node)
  const { status } = node
  if (!isSet(status)) return
  yield* roundUp(status.capacity)
  yield* roundUp(status.allocatable)
  if (!isSet(status.capacity) || isSet(status.allocatable)) return
  status.allocatable = {}
  yield* addMissingMembers(status.allocatable, status.capacity)
}

export const nodeStrategy = defineStrategy<Node>({
  distinctEmpties: [['status', 'allocatable']],
  defaults: defaultNode,
  prepareForCreate(node, { features }) {
    dropDisabled(node, undefined, features)
    delete node.spec?.configSource
    delete node.status?.config
  },
  *prepareForUpdate(node, old, { features }) {
    yield* keepMembers(node, old, 'status')
    dropDisabled(node, old, features)
    if (!isSet(old.spec?.configSource)) delete node.spec?.configSource
  },
  validate: creationRules((errors, node) => validateNode(node, errors)),
  validateUpdate: updateRules(function* (errors, node, old) {
    yield* validateNode(node, errors)
    yield* validateNodeUpdate(node, old, errors)
  }),
  warnings(node) {
    const texts: string[] = []
    if (isSet(node.spec?.configSource)) texts.push('spec.configSource: the feature is removed')
    if (!isEmpty(node.spec?.externalID)) texts.push('spec.externalID: this field is deprecated, and is unused by Kubernetes')
    for (const [i, range] of (node.spec?.podCIDRs ?? []).entries()) texts.push(...rangeWarnings(`spec.podCIDRs[${i}]`, range))
    return texts
  },
  selectableFields: {
    'spec.unschedulable': (node) => String(node.spec?.unschedulable === true),
  },
  subresources: {
    status: {
      *prepareForUpdate(node, old, { features }) {
        yield* keepMembers(node, old, 'spec')
        dropDisabled(node, old, features)
        if (!isSet(old.status?.config)) delete node.status?.config
      },
      validateUpdate: updateRules((errors, node, old) => validateNodeUpdate(node, old, errors)),
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
