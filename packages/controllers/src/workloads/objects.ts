import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly, ObjectMeta } from '@krmkit/meta'

/** The parts of pods and pod templates that the workload controllers read and write. */

export interface PodTemplate {
  metadata?: Partial<ObjectMeta>
  spec?: PodSpec
}

export interface PodSpec {
  nodeName?: string
  nodeSelector?: Record<string, string>
  affinity?: { nodeAffinity?: NodeAffinity; [member: string]: unknown }
  tolerations?: Toleration[]
  restartPolicy?: string
  hostname?: string
  subdomain?: string
  hostNetwork?: boolean
  containers?: Container[]
  initContainers?: Container[]
  volumes?: Volume[]
  readinessGates?: { conditionType: string }[]
  terminationGracePeriodSeconds?: number
  [member: string]: unknown
}

export interface Container {
  name: string
  image?: string
  command?: string[]
  args?: string[]
  restartPolicy?: string
  env?: { name: string; [member: string]: unknown }[]
  ports?: ContainerPort[]
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> }
  resizePolicy?: { resourceName: string; restartPolicy: string }[]
  [member: string]: unknown
}

export interface ContainerPort {
  name?: string
  containerPort: number
  hostPort?: number
  protocol?: string
  hostIP?: string
}

export interface Volume {
  name: string
  persistentVolumeClaim?: { claimName: string; readOnly?: boolean }
  [member: string]: unknown
}

export interface NodeSelectorTerm {
  matchExpressions?: NodeSelectorRequirement[]
  matchFields?: NodeSelectorRequirement[]
}

export interface NodeSelectorRequirement {
  key: string
  operator: string
  values?: string[]
}

export interface NodeAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: NodeSelectorTerm[] }
  [member: string]: unknown
}

export interface Toleration {
  key?: string
  operator?: string
  value?: string
  effect?: string
  tolerationSeconds?: number
}

export interface Taint {
  key: string
  value?: string
  effect: string
  timeAdded?: string
}

export interface PodCondition {
  type: string
  status: string
  reason?: string
  message?: string
  lastProbeTime?: string | null
  lastTransitionTime?: string | null
  observedGeneration?: number
}

export interface ContainerStatus {
  name: string
  restartCount?: number
  ready?: boolean
  state?: { terminated?: { exitCode: number; finishedAt?: string | null }; [member: string]: unknown }
  allocatedResources?: Record<string, string>
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> }
}

export interface PodStatus {
  phase?: string
  reason?: string
  message?: string
  conditions?: PodCondition[]
  containerStatuses?: ContainerStatus[]
  initContainerStatuses?: ContainerStatus[]
  podIP?: string
  podIPs?: { ip: string }[]
  hostIP?: string
  startTime?: string | null
}

export interface Pod extends ApiObject {
  spec?: PodSpec
  status?: PodStatus
}

export type ReadonlyPod = DeepReadonly<Pod>

export const pods = resourceType<Pod>({ group: '', version: 'v1', resource: 'pods', kind: 'Pod' })

export interface Node extends ApiObject {
  spec?: { unschedulable?: boolean; taints?: Taint[]; providerID?: string }
  status?: {
    conditions?: { type: string; status: string; [member: string]: unknown }[]
    allocatable?: Record<string, string>
    [member: string]: unknown
  }
}

export const nodes = resourceType<Node>({ group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false })

/** Returns `namespace/name`, the key of an object in a queue. */
export function queueKey({ metadata }: { readonly metadata: { readonly namespace?: string; readonly name?: string } }): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`
}

/** Splits the key of an object in a queue. */
export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const slash = key.indexOf('/')
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}
