import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { LabelSelectorObject } from '@krmkit/meta/selectors'
import type { Container, NodeSelectorTerm, PodStatus, Taint, Toleration } from '../workloads/objects.ts'

/** The parts of pods, nodes and owners that the scheduler reads. */

export interface PodAffinityTerm {
  labelSelector?: LabelSelectorObject | null
  namespaces?: string[]
  namespaceSelector?: LabelSelectorObject | null
  topologyKey: string
}

export interface WeightedPodAffinityTerm {
  weight: number
  podAffinityTerm: PodAffinityTerm
}

export interface PodAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[]
  preferredDuringSchedulingIgnoredDuringExecution?: WeightedPodAffinityTerm[]
}

export interface NodeAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: NodeSelectorTerm[] }
  preferredDuringSchedulingIgnoredDuringExecution?: { weight: number; preference: NodeSelectorTerm }[]
}

export interface TopologySpreadConstraint {
  maxSkew: number
  topologyKey: string
  whenUnsatisfiable: string
  labelSelector?: LabelSelectorObject | null
  minDomains?: number
  nodeAffinityPolicy?: string
  nodeTaintsPolicy?: string
  matchLabelKeys?: string[]
}

export interface PodVolume {
  name: string
  persistentVolumeClaim?: { claimName: string }
  ephemeral?: object
}

export interface Pod extends ApiObject {
  spec?: {
    nodeName?: string
    schedulerName?: string
    schedulingGates?: { name: string }[]
    priority?: number
    preemptionPolicy?: string
    nodeSelector?: Record<string, string>
    affinity?: { nodeAffinity?: NodeAffinity; podAffinity?: PodAffinity; podAntiAffinity?: PodAffinity }
    tolerations?: Toleration[]
    topologySpreadConstraints?: TopologySpreadConstraint[]
    containers?: Container[]
    initContainers?: Container[]
    overhead?: Record<string, string>
    resources?: { requests?: Record<string, string> }
    volumes?: PodVolume[]
  }
  status?: PodStatus & { nominatedNodeName?: string }
}

export type ReadonlyPod = DeepReadonly<Pod>

export const pods = resourceType<Pod>({ group: '', version: 'v1', resource: 'pods', kind: 'Pod' })

export interface Node extends ApiObject {
  spec?: { unschedulable?: boolean; taints?: Taint[] }
  status?: { allocatable?: Record<string, string>; [member: string]: unknown }
}

export type ReadonlyNode = DeepReadonly<Node>

export const nodes = resourceType<Node>({ group: '', version: 'v1', resource: 'nodes', kind: 'Node', namespaced: false })

export const namespaces = resourceType({ group: '', version: 'v1', resource: 'namespaces', kind: 'Namespace', namespaced: false })

/** An owner whose selector is used for the default spreading of its pods. */
export interface Selecting extends ApiObject {
  spec?: { selector?: Record<string, string> | LabelSelectorObject | null }
}

export const services = resourceType<Selecting>({ group: '', version: 'v1', resource: 'services', kind: 'Service' })
export const replicationControllers = resourceType<Selecting>({
  group: '',
  version: 'v1',
  resource: 'replicationcontrollers',
  kind: 'ReplicationController',
})
export const replicaSets = resourceType<Selecting>({ group: 'apps', version: 'v1', resource: 'replicasets', kind: 'ReplicaSet' })
export const statefulSets = resourceType<Selecting>({
  group: 'apps',
  version: 'v1',
  resource: 'statefulsets',
  kind: 'StatefulSet',
})

export interface Budget extends ApiObject {
  spec?: { selector?: LabelSelectorObject | null }
  status?: { disruptionsAllowed?: number; disruptedPods?: Record<string, string> }
}

export const budgets = resourceType<Budget>({
  group: 'policy',
  version: 'v1',
  resource: 'poddisruptionbudgets',
  kind: 'PodDisruptionBudget',
})
