import type { DeepReadonly } from '@krmkit/meta'
import type { Printer } from '../interfaces.ts'
import type { Endpoints, Service, ServiceSpec } from '../types/core-v1.generated.ts'
import type { EndpointSlice } from '../types/discovery-v1.generated.ts'
import type {
  Ingress,
  IngressClass,
  IngressRule,
  IPAddress,
  NetworkPolicy,
  ServiceCIDR,
} from '../types/networking-v1.generated.ts'
import { ageColumn, column, nameColumn, wide } from './columns.ts'
import { since } from './duration.ts'
import { firstFew, labelsText, selectorText } from './text.ts'

/** How pods are reached. */

export const servicePrinter: Printer<Service> = {
  columns: [
    nameColumn,
    column('Type', 'string', 'How far the service is made known.'),
    column('Cluster-IP', 'string', 'Address of the service inside the cluster.'),
    column('External-IP', 'string', 'Addresses of the service outside the cluster.'),
    column('Port(s)', 'string', 'Ports of the service, with the port of the nodes when there is one.'),
    ageColumn,
    wide('Selector', 'string', 'Labels of the pods that serve.'),
  ],
  cells: (service, { now }) => [
    service.metadata.name ?? '',
    service.spec?.type ?? '',
    service.spec?.clusterIPs?.[0] ?? (service.spec?.clusterIP || '<none>'),
    externalAddress(service),
    servicePorts(service.spec?.ports) || '<none>',
    since(service.metadata.creationTimestamp, now),
    labelsText(service.spec?.selector),
  ],
}

export const endpointsPrinter: Printer<Endpoints> = {
  columns: [nameColumn, column('Endpoints', 'string', 'Addresses and ports that serve; at most three.'), ageColumn],
  cells: ({ metadata, subsets }, { now }) => [
    metadata.name ?? '',
    endpointsText(subsets),
    since(metadata.creationTimestamp, now),
  ],
}

export const endpointSlicePrinter: Printer<EndpointSlice> = {
  columns: [
    nameColumn,
    column('AddressType', 'string', 'Kind of address that all endpoints have.'),
    column('Ports', 'string', 'Ports that each endpoint serves; at most three.'),
    column('Endpoints', 'string', 'Addresses of the endpoints; at most three.'),
    ageColumn,
  ],
  cells({ metadata, addressType, ports, endpoints }, { now }) {
    const numbers = (ports ?? []).map(({ port, name }) => (port !== undefined ? String(port) : (name ?? '*')))
    const addresses = (endpoints ?? []).flatMap((endpoint) => endpoint.addresses ?? [])
    return [
      metadata.name ?? '',
      addressType ?? '',
      firstFew(numbers, 3) || '<unset>',
      firstFew(addresses, 3) || '<unset>',
      since(metadata.creationTimestamp, now),
    ]
  },
}

export const ingressPrinter: Printer<Ingress> = {
  columns: [
    nameColumn,
    column('Class', 'string', 'Class of the controller that puts the rules into effect.'),
    column('Hosts', 'string', 'Hosts the rules are about; at most three.'),
    column('Address', 'string', 'Addresses at which the load balancer is reached.'),
    column('Ports', 'string', 'Ports of the load balancer.'),
    ageColumn,
  ],
  cells: ({ metadata, spec, status }, { now }) => [
    metadata.name ?? '',
    spec?.ingressClassName ?? '<none>',
    hostsText(spec?.rules ?? []),
    loadBalancerAddresses(status?.loadBalancer?.ingress).join(','),
    spec?.tls?.length ? '80, 443' : '80',
    since(metadata.creationTimestamp, now),
  ],
}

export const ingressClassPrinter: Printer<IngressClass> = {
  columns: [
    nameColumn,
    column('Controller', 'string', 'Controller that serves ingresses of the class.'),
    column('Parameters', 'string', 'Object with further settings of the class.'),
    ageColumn,
  ],
  cells({ metadata, spec }, { now }) {
    const from = spec?.parameters
    const kind = from?.apiGroup === undefined || from.apiGroup === null ? from?.kind : `${from.kind}.${from.apiGroup}`
    const parameters = from === undefined ? '<none>' : `${kind}/${from.name}`
    return [metadata.name ?? '', spec?.controller ?? '', parameters, since(metadata.creationTimestamp, now)]
  },
}

export const networkPolicyPrinter: Printer<NetworkPolicy> = {
  columns: [nameColumn, column('Pod-Selector', 'string', 'Labels of the pods the policy is about.'), ageColumn],
  cells: ({ metadata, spec }, { now }) => [
    metadata.name ?? '',
    selectorText(spec?.podSelector ?? {}),
    since(metadata.creationTimestamp, now),
  ],
}

export const serviceCidrPrinter: Printer<ServiceCIDR> = {
  columns: [nameColumn, column('CIDRs', 'string', 'Ranges from which services get their addresses.'), ageColumn],
  cells: ({ metadata, spec }, { now }) => [
    metadata.name ?? '',
    (spec?.cidrs ?? []).join(','),
    since(metadata.creationTimestamp, now),
  ],
}

export const ipAddressPrinter: Printer<IPAddress> = {
  columns: [nameColumn, column('ParentRef', 'string', 'Object that uses the address.')],
  cells({ metadata, spec }) {
    const parent = spec?.parentRef
    if (parent === undefined || parent === null) return [metadata.name ?? '', '<none>']
    const resource = parent.group ? `${parent.resource}.${parent.group}` : parent.resource
    const path = [resource?.toLowerCase() ?? '', ...(parent.namespace ? [parent.namespace] : []), parent.name ?? '']
    return [metadata.name ?? '', path.join('/')]
  },
}

/** Load balancers wait for theirs; other types have none unless somebody wrote them down. */
function externalAddress({ spec, status }: DeepReadonly<Service>): string {
  const written = spec?.externalIPs ?? []
  switch (spec?.type) {
    case 'ClusterIP':
    case 'NodePort':
      return written.join(',') || '<none>'
    case 'LoadBalancer':
      return [...loadBalancerAddresses(status?.loadBalancer?.ingress), ...written].join(',') || '<pending>'
    case 'ExternalName':
      return spec.externalName ?? ''
    default:
      return '<unknown>'
  }
}

interface LoadBalancerIngress {
  readonly ip?: string
  readonly hostname?: string
}

/** Each once, sorted. */
function loadBalancerAddresses(ingress: readonly LoadBalancerIngress[] | null | undefined): string[] {
  const addresses = (ingress ?? []).map(({ ip, hostname }) => ip || hostname || '').filter((address) => address !== '')
  return [...new Set(addresses)].sort()
}

function servicePorts(ports: DeepReadonly<ServiceSpec['ports']>): string {
  return (ports ?? [])
    .map(({ port, nodePort, protocol }) => `${port}${nodePort ? `:${nodePort}` : ''}/${protocol ?? ''}`)
    .join(',')
}

const shownEndpoints = 3

function endpointText(ip: string, port: number | undefined): string {
  if (port === undefined) return ip
  return `${ip.includes(':') ? `[${ip}]` : ip}:${port}`
}

function endpointsText(subsets: DeepReadonly<Endpoints['subsets']>): string {
  if (!subsets?.length) return '<none>'
  let total = 0
  const first: string[] = []
  for (const { addresses, ports } of subsets) {
    total += (addresses?.length ?? 0) * (ports?.length || 1)
    for (const port of ports?.length ? ports.slice(0, shownEndpoints) : [undefined])
      for (const { ip } of (addresses ?? []).slice(0, shownEndpoints)) first.push(endpointText(ip, port?.port))
  }
  return firstFew(first, shownEndpoints, { total })
}

/** The number of further hosts counts every rule beyond the third, as the stock server does. */
function hostsText(rules: DeepReadonly<IngressRule[]>): string {
  const hosts: string[] = []
  let more = false
  for (const { host } of rules) {
    if (hosts.length === 3) more = true
    else if (host) hosts.push(host)
  }
  if (hosts.length === 0) return '*'
  return more ? `${hosts.join(',')} + ${rules.length - 3} more...` : hosts.join(',')
}
