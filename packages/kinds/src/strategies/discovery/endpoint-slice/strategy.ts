/** EndpointSlice. */

import { parseIP } from '@krmkit/base/ip'
import { memberNames, type Work } from '@krmkit/base/work'
import type { DeepReadonly, Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import {
  validateDns1123Subdomain,
  validateFullyQualifiedDomainName,
  validateLabelValue,
  validateQualifiedNameFormat,
} from '@krmkit/meta/names'
import { validateLabels } from '@krmkit/meta/validation'
import type { Endpoint, EndpointHints, EndpointPort, EndpointSlice } from '../../../types/discovery-v1.generated.ts'
import { addressWarnings } from '../../shared/address-warnings.ts'
import { validatePublicAddress } from '../../shared/addresses.ts'
import { protocols } from '../../shared/container-ports.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { startGeneration, validateMetadata } from '../../shared/metadata.ts'
import { validateDnsLabel } from '../../shared/names.ts'
import { validateIpAddress } from '../../shared/older-addresses.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet, own, type R } from '../../shared/values.ts'

const addressTypes = ['FQDN', 'IPv4', 'IPv6']
const maxEndpoints = 1000
const maxPorts = 20_000
const maxAddresses = 100
const maxTopologyLabels = 16
const maxHints = 8
const hostNameLabel = 'kubernetes.io/hostname'
const mendingControllers = ['endpointslice-controller', 'endpointslicemirroring-controller']

type Slice = DeepReadonly<EndpointSlice>

function* validateSlice(slice: Slice, old: Slice | undefined, errors: ContextErrorList): Work {
  yield* validateMetadata(slice, errors, { namespaced: true })
  const type = slice.addressType ?? ''
  if (type === '') errors.child('addressType').required()
  else if (!addressTypes.includes(type)) errors.child('addressType').notSupported(type, addressTypes)
  validatePorts(slice.ports, errors.child('ports'))
  // Stored endpoints stay valid.
  if (old === undefined || !(yield* semanticEqual(slice.endpoints, old.endpoints)))
    validateEndpoints(slice, errors.child('endpoints'))
}

function validateEndpoints(slice: Slice, at: FieldPath): void {
  const endpoints = slice.endpoints ?? []
  if (endpoints.length > maxEndpoints) {
    at.tooMany(endpoints.length, maxEndpoints)
    return
  }
  for (const [i, endpoint] of endpoints.entries()) {
    const addresses = endpoint.addresses ?? []
    const here = at.index(i)
    if (addresses.length === 0) here.child('addresses').required('must contain at least 1 address')
    else if (addresses.length > maxAddresses) here.child('addresses').tooMany(addresses.length, maxAddresses)
    validateAddresses(addresses, slice.addressType, here.child('addresses'))
    validateEndpoint(endpoint, here)
  }
}

function validateAddresses(addresses: readonly string[], type: string, at: FieldPath): void {
  for (const [i, address] of addresses.entries()) {
    const here = at.index(i)
    if (type === 'FQDN') here.add(validateFullyQualifiedDomainName(here.path(), address))
    if (type !== 'IPv4' && type !== 'IPv6') continue
    if (!validateIpAddress(address, here)) continue
    if (parseIP(address)?.family !== (type === 'IPv4' ? 4 : 6)) at.invalid(address, `must be an ${type} address`)
    validatePublicAddress(address, here)
  }
}

function validateEndpoint(endpoint: R<Endpoint>, at: FieldPath): void {
  const { nodeName, deprecatedTopology, hostname, hints } = endpoint
  if (isSet(nodeName)) at.child('nodeName').invalidAll(nodeName, validateDns1123Subdomain(nodeName))
  const topology = at.child('deprecatedTopology')
  const size = memberNames(deprecatedTopology ?? {}).length
  if (size > maxTopologyLabels) topology.tooMany(size, maxTopologyLabels)
  if (size > 0) topology.add(validateLabels(deprecatedTopology, topology.path()))
  if (isSet(hostname)) validateDnsLabel(hostname, at.child('hostname'))
  if (isSet(hints)) validateHints(hints, at.child('hints'))
}

function validateHints({ forZones = [], forNodes = [] }: R<EndpointHints>, at: FieldPath): void {
  for (const [member, hints] of [['forZones', forZones] as const, ['forNodes', forNodes] as const]) {
    const here = at.child(member)
    if (hints.length > maxHints) {
      here.tooMany(hints.length, maxHints)
      continue
    }
    const seen = new Set<string>()
    for (const [i, { name }] of hints.entries()) {
      const place = here.index(i).child('name')
      if (seen.has(name)) place.duplicate(name)
      else seen.add(name)
      place.invalidAll(name, member === 'forZones' ? validateLabelValue(name) : validateDns1123Subdomain(name))
    }
  }
}

function validatePorts(ports: readonly R<EndpointPort>[] | null | undefined, at: FieldPath): void {
  if ((ports ?? []).length > maxPorts) {
    at.tooMany(ports!.length, maxPorts)
    return
  }
  const names = new Set<string>()
  for (const [i, { name = '', protocol, appProtocol }] of (ports ?? []).entries()) {
    const here = at.index(i)
    if (name !== '') validateDnsLabel(name, here.child('name'))
    if (names.has(name)) here.child('name').duplicate(name)
    else names.add(name)
    if (!isSet(protocol)) here.child('protocol').required()
    else if (!protocols.includes(protocol)) here.child('protocol').notSupported(protocol, protocols)
    if (isSet(appProtocol)) here.child('appProtocol').invalidAll(appProtocol, validateQualifiedNameFormat(appProtocol))
  }
}

/** Drops `topology`, a member of v1beta1, except the node name where it was stored. */
function* dropTopology(slice: EndpointSlice, old: Slice | undefined): Work {
  if (old !== undefined && (yield* semanticEqual(slice.endpoints, old.endpoints))) return
  const known = new Set((old?.endpoints ?? []).map(({ deprecatedTopology }) => own(deprecatedTopology, hostNameLabel)))
  for (const endpoint of slice.endpoints ?? []) {
    const node = own(endpoint.deprecatedTopology, hostNameLabel)
    if (!isSet(endpoint.nodeName) && !isEmpty(node) && known.has(node)) endpoint.nodeName = node
    delete endpoint.deprecatedTopology
  }
}

function withoutMetadata({ metadata, ...rest }: Slice): object {
  return { ...rest, labels: metadata.labels ?? {} }
}

export const endpointSliceStrategy = defineStrategy<EndpointSlice>({
  defaults(slice) {
    for (const port of slice.ports ?? []) {
      port.name ??= ''
      port.protocol ??= 'TCP'
    }
  },
  *prepareForCreate(slice, { features }) {
    startGeneration(slice)
    yield* dropTopology(slice, undefined)
    dropHints(slice, undefined, features)
  },
  *prepareForUpdate(slice, old, { features }) {
    // Members that are dropped count as a change.
    if (!(yield* semanticEqual(withoutMetadata(slice), withoutMetadata(old)))) {
      slice.metadata.generation = (old.metadata.generation ?? 0) + 1
    }
    dropHints(slice, old, features)
    yield* dropTopology(slice, old)
  },
  warnings(slice, old, { profile: { domain, apiDomain } }) {
    const texts = slice.addressType === 'FQDN' && old === undefined ? ['spec.addressType: FQDN endpoints are deprecated'] : []
    const manager = own(slice.metadata.labels, `endpointslice.${domain}/managed-by`)
    // These controllers mend addresses themselves.
    if (mendingControllers.some((name) => manager === `${name}.${apiDomain}`)) return texts
    for (const [i, { addresses }] of (slice.endpoints ?? []).entries())
      for (const [j, address] of (addresses ?? []).entries())
        texts.push(...addressWarnings(`endpoints[${i}].addresses[${j}]`, address))
    return texts
  },
  validate: creationRules((errors, slice) => validateSlice(slice, undefined, errors)),
  validateUpdate: updateRules(function* (errors, slice, old) {
    yield* validateSlice(slice, old, errors)
    if (slice.addressType !== old.addressType) errors.child('addressType').invalid(slice.addressType, 'field is immutable')
  }),
})

function dropHints(slice: EndpointSlice, old: DeepReadonly<EndpointSlice> | undefined, features: Features): void {
  const before = old?.endpoints ?? []
  const keepsHints = gateEnabled('TopologyAwareHints', features) || before.some(({ hints }) => isSet(hints))
  const keepsNodes =
    gateEnabled('PreferSameTrafficDistribution', features) || before.some(({ hints }) => !isEmpty(hints?.forNodes))
  for (const endpoint of slice.endpoints ?? []) {
    if (!keepsHints) delete endpoint.hints
    else if (!keepsNodes) delete endpoint.hints?.forNodes
  }
}
