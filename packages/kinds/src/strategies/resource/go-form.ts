/** Claims, allocations and attributes in messages, printed as Go prints them. */
import { type GoText, goQuote, goText } from '@krmkit/meta/go-text'
import type { NodeSelectorRequirement, NodeSelectorTerm } from '../../types/core-v1.generated.ts'
import type {
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceAttribute,
  DeviceClaimConfiguration,
  DeviceConstraint,
  DeviceRequest,
  DeviceRequestAllocationResult,
  DeviceSelector,
  DeviceSubRequest,
  DeviceToleration,
  ResourceClaimSpec,
  ResourceClaimTemplateSpec,
} from '../../types/resource-v1beta1.generated.ts'
import { goPointer, goStringList, goStruct, goStructs } from '../shared/go-form.ts'
import type { R } from '../shared/values.ts'
import { devicesOf } from './claim-devices.ts'
import { isExactRequest } from './device-requests.ts'
import { printMetadata } from './template-metadata.ts'

type Members = Readonly<Record<string, string>>

const typeOf = (name: string): string => `resource.${name}`
const pointer = (value: unknown, name: string): string => goPointer(value, typeOf(name))
const text = (value: string | undefined): string => goQuote(value ?? '')
function own<T>(name: string, items: readonly T[] | null | undefined, print: (item: T) => Members): string {
  return goStructs(typeOf(name), items, print)
}

const claimSpecText = (spec: R<ResourceClaimSpec> | undefined): string => {
  const { requests, constraints, config } = devicesOf(spec)
  const devices = {
    Requests: own('DeviceRequest', requests, requestMembers),
    Constraints: own('DeviceConstraint', constraints, constraintMembers),
    Config: own('DeviceClaimConfiguration', config, configMembers),
  }
  return goStruct(typeOf('ResourceClaimSpec'), { Devices: goStruct(typeOf('DeviceClaim'), devices) })
}

export function goClaimSpec(spec: R<ResourceClaimSpec> | undefined): GoText {
  return goText(claimSpecText(spec))
}

export function goTemplateSpec(spec: R<ResourceClaimTemplateSpec> | undefined): GoText {
  const members = { ObjectMeta: printMetadata(spec?.metadata), Spec: claimSpecText(spec?.spec) }
  return goText(goStruct(typeOf('ResourceClaimTemplateSpec'), members))
}

const requestMembers = (request: R<DeviceRequest>): Members => ({
  Name: text(request.name),
  Exactly: pointer(isExactRequest(request) ? request : undefined, 'ExactDeviceRequest'),
  FirstAvailable: own('DeviceSubRequest', request.firstAvailable, alternativeMembers),
})

const alternativeMembers = (alternative: R<DeviceSubRequest>): Members => ({
  Name: text(alternative.name),
  DeviceClassName: text(alternative.deviceClassName),
  Selectors: own('DeviceSelector', alternative.selectors, selectorMembers),
  AllocationMode: text(alternative.allocationMode),
  Count: String(alternative.count ?? 0),
  Tolerations: own('DeviceToleration', alternative.tolerations, tolerationMembers),
})

const selectorMembers = ({ cel }: R<DeviceSelector>): Members => ({ CEL: pointer(cel, 'CELDeviceSelector') })

const tolerationMembers = ({ key, operator, value, effect, tolerationSeconds }: R<DeviceToleration>): Members => ({
  Key: text(key),
  Operator: text(operator),
  Value: text(value),
  Effect: text(effect),
  TolerationSeconds: goPointer(tolerationSeconds, 'int64'),
})

const constraintMembers = ({ requests, matchAttribute }: R<DeviceConstraint>): Members => ({
  Requests: goStringList(requests),
  MatchAttribute: pointer(matchAttribute, 'FullyQualifiedName'),
})

const configMembers = ({ requests, opaque }: R<DeviceClaimConfiguration>): Members => ({
  Requests: goStringList(requests),
  DeviceConfiguration: goStruct(typeOf('DeviceConfiguration'), { Opaque: pointer(opaque, 'OpaqueDeviceConfiguration') }),
})

export function goAllocation({ devices, nodeSelector }: R<AllocationResult>): GoText {
  const members = {
    Results: own('DeviceRequestAllocationResult', devices?.results, resultMembers),
    Config: own('DeviceAllocationConfiguration', devices?.config, allocatedConfigMembers),
  }
  return goText(
    goStruct(typeOf('AllocationResult'), {
      Devices: goStruct(typeOf('DeviceAllocationResult'), members),
      NodeSelector: goPointer(nodeSelector, 'core.NodeSelector'),
    }),
  )
}

const resultMembers = (result: R<DeviceRequestAllocationResult>): Members => ({
  Request: text(result.request),
  Driver: text(result.driver),
  Pool: text(result.pool),
  Device: text(result.device),
  AdminAccess: goPointer(result.adminAccess, 'bool'),
  Tolerations: own('DeviceToleration', result.tolerations, tolerationMembers),
})

const allocatedConfigMembers = ({ source, ...config }: R<DeviceAllocationConfiguration>): Members => ({
  Source: text(source),
  ...configMembers(config),
})

export function goAttribute({ int, bool, string, version }: R<DeviceAttribute>): GoText {
  return goText(
    goStruct(typeOf('DeviceAttribute'), {
      IntValue: goPointer(int, 'int64'),
      BoolValue: goPointer(bool, 'bool'),
      StringValue: goPointer(string, 'string'),
      VersionValue: goPointer(version, 'string'),
    }),
  )
}

export function goNodeSelectorTerms(terms: readonly R<NodeSelectorTerm>[] | null | undefined): GoText {
  return goText(goStructs('core.NodeSelectorTerm', terms, termMembers))
}

const termMembers = ({ matchExpressions, matchFields }: R<NodeSelectorTerm>): Members => ({
  MatchExpressions: goStructs('core.NodeSelectorRequirement', matchExpressions, requirementMembers),
  MatchFields: goStructs('core.NodeSelectorRequirement', matchFields, requirementMembers),
})

const requirementMembers = ({ key, operator, values }: R<NodeSelectorRequirement>): Members => ({
  Key: text(key),
  Operator: text(operator),
  Values: goStringList(values),
})
