import type { DeepReadonly } from '@krmkit/meta'
import type { Printer } from '../../../interfaces.ts'
import { ageColumn, column, nameColumn, wide } from '../../../printers/columns.ts'
import { since } from '../../../printers/duration.ts'
import { labelsText, loadBalancerAddresses } from '../../../printers/text.ts'
import type { Service, ServiceSpec } from '../../../types/core-v1.generated.ts'

export const servicePrinter: Printer<Service> = {
  columns: [
    nameColumn,
    column('Type', 'string', 'Type of the service.'),
    column('Cluster-IP', 'string', 'Cluster IP of the service.'),
    column('External-IP', 'string', 'External addresses of the service.'),
    column('Port(s)', 'string', 'Ports of the service, with their node ports.'),
    ageColumn,
    wide('Selector', 'string', 'Labels that select the pods of the service.'),
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

/** Load balancers without an address are pending; other types show only external IPs. */
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

function servicePorts(ports: DeepReadonly<ServiceSpec['ports']>): string {
  return (ports ?? [])
    .map(({ port, nodePort, protocol }) => `${port}${nodePort ? `:${nodePort}` : ''}/${protocol ?? ''}`)
    .join(',')
}
