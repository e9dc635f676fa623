import { isEmptyObject } from '@krmkit/base/work'
import { type ResourceType, resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import {
  type LabelSelector,
  type LabelSelectorObject,
  labelSelectorFromLabels,
  labelSelectorFromObject,
} from '@krmkit/meta/selectors'
import type { PodTemplate } from '../workloads/objects.ts'

/** ReplicaSets and ReplicationControllers share one controller; they differ only in the form of the selector. */

export interface ReplicaCondition {
  type: string
  status: string
  lastTransitionTime?: string | null
  reason?: string
  message?: string
}

export interface ReplicaStatus {
  replicas?: number
  fullyLabeledReplicas?: number
  readyReplicas?: number
  availableReplicas?: number
  terminatingReplicas?: number
  observedGeneration?: number
  conditions?: ReplicaCondition[]
}

export interface ReplicaSet extends ApiObject {
  spec?: {
    replicas?: number
    minReadySeconds?: number
    /** A plain label map in a ReplicationController. */
    selector?: LabelSelectorObject | Record<string, string> | null
    template?: PodTemplate
  }
  status?: ReplicaStatus
}

export type ReadonlyReplicaSet = DeepReadonly<ReplicaSet>

/** A kind of replica sets. */
export interface ReplicaKind {
  readonly controllerName: string
  /** Event source of the controller. */
  readonly eventSource: string
  readonly resource: ResourceType<ReplicaSet>
  /** Whether the status counts terminating pods, where the gate `DeploymentReplicaSetTerminatingReplicas` is on. */
  readonly countsTerminating: boolean
  selectorOf(set: ReadonlyReplicaSet): LabelSelector | undefined
}

export const replicaSetKind: ReplicaKind = {
  controllerName: 'replicaset-controller',
  eventSource: 'replicaset-controller',
  resource: resourceType<ReplicaSet>({ group: 'apps', version: 'v1', resource: 'replicasets', kind: 'ReplicaSet' }),
  countsTerminating: true,
  selectorOf: ({ spec }) => labelSelectorFromObject(spec?.selector as LabelSelectorObject | null | undefined),
}

export const replicationControllerKind: ReplicaKind = {
  controllerName: 'replicationcontroller-controller',
  eventSource: 'replication-controller',
  resource: resourceType<ReplicaSet>({
    group: '',
    version: 'v1',
    resource: 'replicationcontrollers',
    kind: 'ReplicationController',
  }),
  countsTerminating: false,
  selectorOf({ spec }) {
    const labels = (spec?.selector ?? {}) as Record<string, string>
    return isEmptyObject(labels) ? undefined : labelSelectorFromLabels(labels)
  },
}
