/** Endpoints. */
import type { DeepReadonly } from '@krmkit/meta'
import type { EndpointAddress, EndpointPort, Endpoints } from '../../../types/core-v1.generated.ts'
import { addressWarnings } from '../../shared/address-warnings.ts'
import { validatePublicAddress } from '../../shared/addresses.ts'
import { protocols } from '../../shared/container-ports.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateDnsLabel, validateDnsSubdomain, validateQualifiedName } from '../../shared/names.ts'
import { validatePortNumber } from '../../shared/numbers.ts'
import { validateIpAddress } from '../../shared/older-addresses.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'

function validateAddress(address: R<EndpointAddress>, at: FieldPath): void {
  validateIpAddress(address.ip, at.child('ip'))
  if (!isEmpty(address.hostname)) validateDnsLabel(address.hostname, at.child('hostname'))
  if (isSet(address.nodeName)) validateDnsSubdomain(address.nodeName, at.child('nodeName'))
  validatePublicAddress(address.ip, at.child('ip'))
}

function validatePort(port: R<EndpointPort>, at: FieldPath, nameRequired: boolean): void {
  if (!isEmpty(port.name)) validateDnsLabel(port.name, at.child('name'))
  else if (nameRequired) at.child('name').required()
  validatePortNumber(port.port, at.child('port'))
  if (isEmpty(port.protocol)) at.child('protocol').required()
  else if (!protocols.includes(port.protocol)) at.child('protocol').notSupported(port.protocol, protocols)
  if (isSet(port.appProtocol)) validateQualifiedName(port.appProtocol, at.child('appProtocol'))
}

function validateSubsets(endpoints: DeepReadonly<Endpoints>, errors: ContextErrorList): void {
  for (const [i, subset] of (endpoints.subsets ?? []).entries()) {
    const at = errors.child('subsets').index(i)
    const { addresses = [], notReadyAddresses = [], ports = [] } = subset
    if (addresses.length === 0 && notReadyAddresses.length === 0) at.required('must specify `addresses` or `notReadyAddresses`')
    for (const [j, address] of addresses.entries()) validateAddress(address, at.child('addresses').index(j))
    for (const [j, address] of notReadyAddresses.entries()) validateAddress(address, at.child('notReadyAddresses').index(j))
    for (const [j, port] of ports.entries()) validatePort(port, at.child('ports').index(j), ports.length > 1)
  }
}

export const endpointsStrategy = defineStrategy<Endpoints>({
  allowCreateOnUpdate: true,
  defaults(endpoints) {
    for (const subset of endpoints.subsets ?? []) for (const port of subset.ports ?? []) port.protocol ||= 'TCP'
  },
  validate: creationRules(function* (errors, endpoints) {
    yield* validateMetadata(endpoints, errors, { namespaced: true })
    validateSubsets(endpoints, errors)
  }),
  validateUpdate: updateRules(function* (errors, endpoints, old) {
    yield* validateMetadataUpdate(endpoints, old, errors)
    yield* validateMetadata(endpoints, errors, { namespaced: true })
    // Stored subsets stay valid.
    if (!(yield* semanticEqual(endpoints.subsets, old.subsets))) validateSubsets(endpoints, errors)
  }),
  warnings(endpoints) {
    const texts: string[] = []
    for (const [i, subset] of (endpoints.subsets ?? []).entries())
      for (const member of ['addresses', 'notReadyAddresses'] as const)
        for (const [j, { ip }] of (subset[member] ?? []).entries())
          texts.push(...addressWarnings(`subsets[${i}].${member}[${j}].ip`, ip))
    return texts
  },
})
