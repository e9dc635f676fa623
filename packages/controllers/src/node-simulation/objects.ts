import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { Container, PodCondition, Toleration } from '../workloads/objects.ts'

/** The parts of pods and leases that simulated nodes read and write. */

export interface Terminated {
  exitCode: number
  reason: string
  startedAt: string
  finishedAt: string
  containerID: string
}

export interface ContainerState {
  waiting?: { reason: string; message?: string }
  running?: { startedAt: string }
  terminated?: Terminated
}

export interface ContainerStatus {
  name: string
  image: string
  imageID: string
  containerID?: string
  ready: boolean
  started: boolean
  restartCount: number
  state: ContainerState
  lastState: ContainerState
  /** Requests that the node has allocated to the container. */
  allocatedResources?: Record<string, string>
  /** Resources that are in effect for the container. */
  resources?: ContainerResources
}

export type ContainerResources = NonNullable<Container['resources']>

export interface PodStatus {
  phase?: string
  reason?: string
  message?: string
  startTime?: string
  hostIP?: string
  hostIPs?: { ip: string }[]
  podIP?: string
  podIPs?: { ip: string }[]
  qosClass?: string
  conditions?: PodCondition[]
  initContainerStatuses?: ContainerStatus[]
  containerStatuses?: ContainerStatus[]
}

/** A config map or secret, and its keys that must exist. */
export interface KeySource {
  name?: string | undefined
  optional?: boolean
  items?: { key: string }[]
}

export interface PodVolume {
  name: string
  configMap?: KeySource | null
  secret?: (Omit<KeySource, 'name'> & { secretName?: string }) | null
  projected?: { sources?: { configMap?: KeySource | null; secret?: KeySource | null }[] } | null
}

export interface Pod extends ApiObject {
  spec?: {
    nodeName?: string
    hostNetwork?: boolean
    restartPolicy?: string
    terminationGracePeriodSeconds?: number
    activeDeadlineSeconds?: number
    initContainers?: Container[]
    containers?: Container[]
    readinessGates?: { conditionType: string }[]
    os?: { name: string }
    securityContext?: { sysctls?: { name: string }[] }
    volumes?: PodVolume[]
    tolerations?: Toleration[]
  }
  status?: PodStatus
}

export type ReadonlyPod = DeepReadonly<Pod>

export const pods = resourceType<Pod>({ group: '', version: 'v1', resource: 'pods', kind: 'Pod' })

export interface Lease extends ApiObject {
  spec?: { holderIdentity?: string; leaseDurationSeconds?: number; renewTime?: string }
}

export const leases = resourceType<Lease>({ group: 'coordination.k8s.io', version: 'v1', resource: 'leases', kind: 'Lease' })
