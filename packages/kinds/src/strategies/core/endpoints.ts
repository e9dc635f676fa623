/** Endpoints of a service, in the old form. */
import type { DeepReadonly } from '@krmkit/meta'
import type { EndpointAddress, EndpointPort, Endpoints } from '../../types/core-v1.generated.ts'
import { checkPublicAddress, checkServedAddress } from '../shared/addresses.ts'
import { protocols } from '../shared/container-ports.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { checkMetadata, checkMetadataUpdate } from '../shared/metadata.ts'
import { checkDnsLabel, checkDnsSubdomain, checkQualifiedName } from '../shared/names.ts'
import { checkPortNumber } from '../shared/numbers.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isEmpty, isSet, type R } from '../shared/values.ts'

function checkAddress(address: R<EndpointAddress>, at: FieldPath): void {
  checkServedAddress(address.ip, at.child('ip'))
  if (!isEmpty(address.hostname)) checkDnsLabel(address.hostname, at.child('hostname'))
  if (isSet(address.nodeName)) checkDnsSubdomain(address.nodeName, at.child('nodeName'))
  checkPublicAddress(address.ip, at.child('ip'))
}

function checkPort(port: R<EndpointPort>, at: FieldPath, nameRequired: boolean): void {
  if (!isEmpty(port.name)) checkDnsLabel(port.name, at.child('name'))
  else if (nameRequired) at.child('name').required()
  checkPortNumber(port.port, at.child('port'))
  if (isEmpty(port.protocol)) at.child('protocol').required()
  else if (!protocols.includes(port.protocol)) at.child('protocol').notSupported(port.protocol, protocols)
  if (isSet(port.appProtocol)) checkQualifiedName(port.appProtocol, at.child('appProtocol'))
}

function checkSubsets(endpoints: DeepReadonly<Endpoints>, report: Report): void {
  for (const [i, subset] of (endpoints.subsets ?? []).entries()) {
    const at = report.at('subsets').index(i)
    const { addresses = [], notReadyAddresses = [], ports = [] } = subset
    if (addresses.length === 0 && notReadyAddresses.length === 0) at.required('must specify `addresses` or `notReadyAddresses`')
    for (const [j, address] of addresses.entries()) checkAddress(address, at.child('addresses').index(j))
    for (const [j, address] of notReadyAddresses.entries()) checkAddress(address, at.child('notReadyAddresses').index(j))
    for (const [j, port] of ports.entries()) checkPort(port, at.child('ports').index(j), ports.length > 1)
  }
}

export const endpointsStrategy = defineStrategy<Endpoints>({
  allowCreateOnUpdate: true,
  defaults(endpoints) {
    for (const subset of endpoints.subsets ?? []) for (const port of subset.ports ?? []) port.protocol ||= 'TCP'
  },
  validate(endpoints, context) {
    return findings(context, (report) => {
      checkMetadata(endpoints, report, { namespaced: true })
      checkSubsets(endpoints, report)
    })
  },
  validateUpdate(endpoints, old, context) {
    return findings(context, (report) => {
      checkMetadataUpdate(endpoints, old, report)
      checkSubsets(endpoints, report)
    })
  },
})
