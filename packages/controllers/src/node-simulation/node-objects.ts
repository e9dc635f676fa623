import { type DeepReadonly, formatTime, type NamingProfile } from '@krmkit/meta'
import { formatMicroTime } from '@krmkit/meta/time'
import type { Node } from '../workloads/objects.ts'
import type { NodeTemplate } from './interfaces.ts'
import type { Lease } from './objects.ts'

/** The objects of simulated nodes. */

export const kubeletPort = 10250

const defaultCapacity = { cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi', pods: '110' }
const kubeletVersion = 'v1.33.0'

export function nodeTemplates(nodes: number | readonly NodeTemplate[]): readonly NodeTemplate[] {
  return typeof nodes === 'number' ? Array.from({ length: nodes }, (_, index) => ({ name: `node-${index + 1}` })) : nodes
}

/** Addresses of the node with an index, which starts at 0. */
export function nodeAddresses(index: number): {
  readonly hostIP: string
  podIP(number: number): string
  readonly podRange: string
} {
  const second = 244 + (index >> 8)
  const third = index & 255
  return {
    hostIP: `172.18.${third}.${2 + (index >> 8)}`,
    podRange: `10.${second}.${third}.0/24`,
    podIP: (number) => `10.${second}.${third}.${number}`,
  }
}

export function nodeObject(
  template: NodeTemplate,
  { index, nowMs, profile }: { readonly index: number; readonly nowMs: number; readonly profile: NamingProfile },
): Node {
  const { name, labels, taints, capacity } = template
  const { domain } = profile
  const { hostIP, podRange } = nodeAddresses(index)
  const amounts = { ...defaultCapacity, ...capacity }
  const platform = { [`${domain}/arch`]: 'amd64', [`${domain}/os`]: 'linux', [`${domain}/hostname`]: name }
  const spec = { podCIDR: podRange, podCIDRs: [podRange], providerID: `simulated://${name}` }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { ...platform, ...labels } },
    spec: { ...spec, ...(taints === undefined ? {} : { taints: structuredClone([...taints]) }) },
    status: {
      capacity: amounts,
      allocatable: amounts,
      conditions: nodeConditions(nowMs),
      addresses: [
        { type: 'InternalIP', address: hostIP },
        { type: 'Hostname', address: name },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: kubeletPort } },
      nodeInfo: {
        machineID: name,
        systemUUID: name,
        bootID: name,
        kernelVersion: 'simulated',
        osImage: 'krmkit node simulation',
        containerRuntimeVersion: 'containerd://2.0.0',
        kubeletVersion,
        kubeProxyVersion: '',
        operatingSystem: 'linux',
        architecture: 'amd64',
      },
    },
  }
}

const healthyConditions = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
] as const

/** The conditions of a healthy node. Unchanged conditions keep their transition time. */
export function nodeConditions(
  nowMs: number,
  before: readonly { readonly type: string; readonly status: string; readonly [member: string]: unknown }[] = [],
) {
  const time = formatTime(nowMs)
  const others = before.filter(({ type }) => !healthyConditions.some(([own]) => own === type))
  const own = healthyConditions.map(([type, status, reason, message]) => {
    const known = before.find((condition) => condition.type === type)
    const lastTransitionTime = known?.status === status ? known['lastTransitionTime'] : time
    return { type, status, lastHeartbeatTime: time, lastTransitionTime, reason, message }
  })
  return [...others, ...own]
}

export function nodeLease(
  name: string,
  { nowMs, profile, owner }: { readonly nowMs: number; readonly profile: NamingProfile; readonly owner: Node | undefined },
): Lease {
  const uid = owner?.metadata.uid
  const ownerReferences = uid === undefined ? {} : { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid }] }
  return {
    apiVersion: `coordination.${profile.apiDomain}/v1`,
    kind: 'Lease',
    metadata: { name, namespace: profile.nodeLeaseNamespace, ...ownerReferences },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: formatMicroTime(nowMs) },
  }
}

/**
 * Returns the changes that make the allocatable extended resources of a node equal to its capacity: amounts by name, null
 * for removed resources; undefined when they are equal.
 */
export function extendedChanges({ status }: DeepReadonly<Node>): Record<string, string | null> | undefined {
  const capacity = (status?.['capacity'] ?? {}) as Readonly<Record<string, string>>
  const allocatable = status?.allocatable ?? {}
  const changes: Record<string, string | null> = {}
  for (const name of new Set([...Object.keys(capacity), ...Object.keys(allocatable)])) {
    const amount = Object.hasOwn(capacity, name) ? capacity[name] : undefined
    if (name.includes('/') && amount !== allocatable[name]) changes[name] = amount ?? null
  }
  return Object.keys(changes).length === 0 ? undefined : changes
}
