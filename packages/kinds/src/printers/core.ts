import type { DeepReadonly, NamingProfile } from '@krmkit/meta'
import { stockProfile } from '@krmkit/meta'
import type { Printer } from '../interfaces.ts'
import type {
  ComponentStatus,
  ConfigMap,
  Event,
  Namespace,
  Node,
  ResourceQuota,
  Secret,
  ServiceAccount,
} from '../types/core-v1.generated.ts'
import { ageColumn, column, nameColumn, wide } from './columns.ts'
import { since } from './duration.ts'

/** Kinds of the core group that are neither workloads nor volumes. */

export const namespacePrinter: Printer<Namespace> = {
  columns: [nameColumn, column('Status', 'string', 'Whether the namespace is in use or on its way out.'), ageColumn],
  cells: ({ metadata, status }, { now }) => [metadata.name ?? '', status?.phase ?? '', since(metadata.creationTimestamp, now)],
}

export const configMapPrinter: Printer<ConfigMap> = {
  columns: [nameColumn, column('Data', 'string', 'Number of entries.'), ageColumn],
  cells: ({ metadata, data, binaryData }, { now }) => [
    metadata.name ?? '',
    size(data) + size(binaryData),
    since(metadata.creationTimestamp, now),
  ],
}

export const secretPrinter: Printer<Secret> = {
  columns: [
    nameColumn,
    column('Type', 'string', 'What the secret is for.'),
    column('Data', 'string', 'Number of entries.'),
    ageColumn,
  ],
  cells: ({ metadata, type, data }, { now }) => [
    metadata.name ?? '',
    type ?? '',
    size(data),
    since(metadata.creationTimestamp, now),
  ],
}

export const serviceAccountPrinter: Printer<ServiceAccount> = {
  columns: [nameColumn, column('Secrets', 'string', 'Number of secrets the account names.'), ageColumn],
  cells: ({ metadata, secrets }, { now }) => [metadata.name ?? '', secrets?.length ?? 0, since(metadata.creationTimestamp, now)],
}

export const componentStatusPrinter: Printer<ComponentStatus> = {
  columns: [
    nameColumn,
    column('Status', 'string', 'Whether the component is healthy.'),
    column('Message', 'string', 'What the component says of its health.'),
    column('Error', 'string', 'What went wrong in asking.'),
  ],
  cells({ metadata, conditions }) {
    const health = conditions?.find(({ type }) => type === 'Healthy')
    const status = health === undefined ? 'Unknown' : health.status === 'True' ? 'Healthy' : 'Unhealthy'
    return [metadata.name ?? '', status, health?.message ?? '', health?.error ?? '']
  },
}

export const eventPrinter: Printer<Event> = {
  columns: [
    column('Last Seen', 'string', 'Time since it last happened.'),
    column('Type', 'string', 'Whether it is as it should be.'),
    column('Reason', 'string', 'Why it happened, in a word.'),
    column('Object', 'string', 'Object it happened to.'),
    wide('Subobject', 'string', 'Part of the object it happened to.'),
    wide('Source', 'string', 'Component that tells of it, and where it runs.'),
    column('Message', 'string', 'What happened.'),
    wide('First Seen', 'string', 'Time since it first happened.'),
    wide('Count', 'string', 'How often it happened.'),
    { ...nameColumn, priority: 1 },
  ],
  cells(event, { now }) {
    const first = event.firstTimestamp ? since(event.firstTimestamp, now) : since(event.eventTime, now)
    const last = event.lastTimestamp ? since(event.lastTimestamp, now) : first
    return [
      event.series ? since(event.series.lastObservedTime, now) : last,
      event.type ?? '',
      event.reason ?? '',
      involvedObject(event),
      event.involvedObject?.fieldPath ?? '',
      eventSource(event),
      (event.message ?? '').trim(),
      first,
      event.series ? (event.series.count ?? 0) : event.count || 1,
      event.metadata.name ?? '',
    ]
  },
}

export const resourceQuotaPrinter: Printer<ResourceQuota> = {
  columns: [
    nameColumn,
    column('Request', 'string', 'What is used of each request and count, and how much may be.'),
    column('Limit', 'string', 'What is used of each limit, and how much may be.'),
    ageColumn,
  ],
  cells({ metadata, status }, { now }) {
    const used = (resource: string) => `${resource}: ${status?.used?.[resource] ?? '0'}/${status?.hard?.[resource] ?? '0'}`
    const resources = Object.keys(status?.hard ?? {}).sort()
    const limits = resources.filter((resource) => resource.startsWith('limits.'))
    const requests = resources.filter((resource) => !resource.startsWith('limits.'))
    return [
      metadata.name ?? '',
      requests.map(used).join(', '),
      limits.map(used).join(', '),
      since(metadata.creationTimestamp, now),
    ]
  },
}

export const nodePrinter: Printer<Node> = {
  columns: [
    nameColumn,
    column('Status', 'string', 'Whether the node can run pods.'),
    column('Roles', 'string', 'Roles that labels give the node.'),
    ageColumn,
    column('Version', 'string', 'Release of the agent on the node.'),
    wide('Internal-IP', 'string', 'First address of the node inside the cluster.'),
    wide('External-IP', 'string', 'First address of the node outside the cluster.'),
    wide('OS-Image', 'string', 'Operating system of the node.'),
    wide('Kernel-Version', 'string', 'Kernel of the node.'),
    wide('Container-Runtime', 'string', 'Runtime that starts containers on the node.'),
  ],
  cells({ metadata, spec, status }, { now, profile = stockProfile }) {
    const ready = status?.conditions?.filter(({ type }) => type === 'Ready').at(-1)
    const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady'
    const address = (type: string) => status?.addresses?.find((each) => each.type === type)?.address ?? '<none>'
    const info = status?.nodeInfo
    return [
      metadata.name ?? '',
      spec?.unschedulable ? `${state},SchedulingDisabled` : state,
      nodeRoles(metadata.labels ?? {}, profile).join(',') || '<none>',
      since(metadata.creationTimestamp, now),
      info?.kubeletVersion ?? '',
      address('InternalIP'),
      address('ExternalIP'),
      info?.osImage || '<unknown>',
      info?.kernelVersion || '<unknown>',
      info?.containerRuntimeVersion || '<unknown>',
    ]
  },
}

/** Roles are written as `node-role.<domain>/<role>` or as the value of `<domain>/role`; each once, sorted. */
function nodeRoles(labels: Readonly<Record<string, string>>, { domain }: NamingProfile): string[] {
  const prefix = `node-role.${domain}/`
  const roles = Object.entries(labels).map(([key, value]) => {
    if (key.startsWith(prefix)) return key.slice(prefix.length)
    return key === `${domain}/role` ? value : ''
  })
  return [...new Set(roles.filter((role) => role !== ''))].sort()
}

function involvedObject({ involvedObject }: DeepReadonly<Event>): string {
  const kind = (involvedObject?.kind ?? '').toLowerCase()
  return involvedObject?.name ? `${kind}/${involvedObject.name}` : kind
}

function eventSource({ source, reportingComponent, reportingInstance }: DeepReadonly<Event>): string {
  const component = source?.component || reportingComponent || ''
  const host = source?.host || reportingInstance || ''
  return host === '' ? component : `${component}, ${host}`
}

function size(map: Readonly<Record<string, string>> | null | undefined): number {
  return Object.keys(map ?? {}).length
}
