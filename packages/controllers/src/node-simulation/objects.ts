import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { Container, PodCondition } from '../workloads/objects.ts'

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
}

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
  }
  status?: PodStatus
}

export type ReadonlyPod = DeepReadonly<Pod>

export const pods = resourceType<Pod>({ group: '', version: 'v1', resource: 'pods', kind: 'Pod' })

export interface Lease extends ApiObject {
  spec?: { holderIdentity?: string; leaseDurationSeconds?: number; renewTime?: string }
}

export const leases = resourceType<Lease>({ group: 'coordination.k8s.io', version: 'v1', resource: 'leases', kind: 'Lease' })
