import { resourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly, NamingProfile, ObjectMeta } from '@krmkit/meta'
import { type IntOrString, scaledValue } from '@krmkit/meta/int-or-string'
import type { LabelSelectorObject } from '@krmkit/meta/selectors'

/** The parts of deployments and replica sets that the controller reads and writes. */

export interface Template {
  metadata?: Partial<ObjectMeta>
  spec?: object
}

export interface DeploymentCondition {
  type: string
  status: string
  lastUpdateTime?: string | null
  lastTransitionTime?: string | null
  reason?: string
  message?: string
}

export interface DeploymentStatus {
  observedGeneration?: number
  replicas?: number
  updatedReplicas?: number
  readyReplicas?: number
  availableReplicas?: number
  unavailableReplicas?: number
  terminatingReplicas?: number
  conditions?: DeploymentCondition[]
  collisionCount?: number
}

export interface Deployment extends ApiObject {
  spec?: {
    replicas?: number
    selector?: LabelSelectorObject | null
    template?: Template
    strategy?: { type?: string; rollingUpdate?: { maxSurge?: IntOrString; maxUnavailable?: IntOrString } }
    minReadySeconds?: number
    revisionHistoryLimit?: number
    paused?: boolean
    progressDeadlineSeconds?: number
  }
  status?: DeploymentStatus
}

export interface ReplicaSet extends ApiObject {
  spec?: { replicas?: number; minReadySeconds?: number; selector?: LabelSelectorObject | null; template?: Template }
  status?: {
    replicas?: number
    readyReplicas?: number
    availableReplicas?: number
    terminatingReplicas?: number
    observedGeneration?: number
    conditions?: DeploymentCondition[]
  }
}

export type ReadonlyDeployment = DeepReadonly<Deployment>
export type ReadonlyReplicaSet = DeepReadonly<ReplicaSet>

const apps = { group: 'apps', version: 'v1' }
export const deployments = resourceType<Deployment>({ ...apps, resource: 'deployments', kind: 'Deployment' })
export const replicaSets = resourceType<ReplicaSet>({ ...apps, resource: 'replicasets', kind: 'ReplicaSet' })

/** Label that distinguishes the replica sets of a deployment and their pods. */
export const hashLabel = 'pod-template-hash'

/** Annotation keys of deployments and their replica sets. */
export interface AnnotationKeys {
  readonly revision: string
  /** Earlier revision numbers of a replica set that became current again. */
  readonly history: string
  /** Desired and maximum replicas of the deployment when the set was last scaled. */
  readonly desired: string
  readonly max: string
  readonly lastApplied: string
  /** Set by clients to request a rollback to a revision. */
  readonly rollbackTo: string
}

/** Annotations that are not copied between deployments and replica sets. */
export function managedAnnotationKeys(annotationKeys: AnnotationKeys): readonly string[] {
  return Object.values(annotationKeys)
}

export function annotationKeysOf({ domain }: NamingProfile): AnnotationKeys {
  return {
    revision: `deployment.${domain}/revision`,
    history: `deployment.${domain}/revision-history`,
    desired: `deployment.${domain}/desired-replicas`,
    max: `deployment.${domain}/max-replicas`,
    lastApplied: `kubectl.${domain}/last-applied-configuration`,
    rollbackTo: 'deprecated.deployment.rollback.to',
  }
}

export const desiredReplicas = ({ spec }: ReadonlyDeployment | ReadonlyReplicaSet): number => spec?.replicas ?? 1
export const sumOf = (sets: readonly ReadonlyReplicaSet[], count: (set: ReadonlyReplicaSet) => number): number =>
  sets.reduce((sum, set) => sum + count(set), 0)
export const specReplicas = (sets: readonly ReadonlyReplicaSet[]): number => sumOf(sets, desiredReplicas)
export const actualReplicas = (sets: readonly ReadonlyReplicaSet[]): number => sumOf(sets, ({ status }) => status?.replicas ?? 0)
export const availableReplicas = (sets: readonly ReadonlyReplicaSet[]): number =>
  sumOf(sets, ({ status }) => status?.availableReplicas ?? 0)

export function isRolling({ spec }: ReadonlyDeployment): boolean {
  return spec?.strategy?.type !== 'Recreate'
}

/** Returns the maximum surge and maximum unavailable pods as numbers; at least one is positive. */
export function fenceposts(deployment: ReadonlyDeployment): { readonly surge: number; readonly unavailable: number } {
  const wanted = desiredReplicas(deployment)
  if (!isRolling(deployment)) return { surge: 0, unavailable: 0 }
  const { maxSurge = 0, maxUnavailable = 0 } = deployment.spec?.strategy?.rollingUpdate ?? {}
  const surge = scaledValue(maxSurge, wanted, { roundUp: true })
  const unavailable = scaledValue(maxUnavailable, wanted, { roundUp: false })
  if (surge === 0 && unavailable === 0) return { surge, unavailable: Math.min(1, wanted) }
  return { surge, unavailable: Math.min(unavailable, wanted) }
}

/** Orders by creation time, then by name. */
export function byAge(a: ReadonlyReplicaSet, b: ReadonlyReplicaSet): number {
  const made = (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '')
  return made !== 0 ? made : (a.metadata.name ?? '').localeCompare(b.metadata.name ?? '')
}
