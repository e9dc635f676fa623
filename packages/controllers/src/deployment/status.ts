import { formatTime, parseTime } from '@krmkit/meta'
import {
  actualReplicas,
  availableReplicas,
  type DeploymentCondition,
  type DeploymentStatus,
  desiredReplicas,
  fenceposts,
  type ReadonlyDeployment,
  type ReadonlyReplicaSet,
  sumOf,
} from './objects.ts'
import { allOf, type DeploymentReplicaSets } from './scaling.ts'

/** Computes the status of deployments. */

export interface StatusOptions {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Whether the status counts terminating pods: the gate `DeploymentReplicaSetTerminatingReplicas`. */
  readonly countsTerminating: boolean
}

/** Returns the status with replica counts and the Available condition. The Progressing condition is unchanged. */
export function countStatus(
  deployment: ReadonlyDeployment,
  sets: DeploymentReplicaSets,
  { now, countsTerminating }: StatusOptions,
): DeploymentStatus {
  const all = allOf(sets)
  const terminating = countsTerminating ? terminatingReplicas(all) : undefined
  const replicas = actualReplicas(all)
  const available = availableReplicas(all)
  const { collisionCount, conditions = [] } = deployment.status ?? {}
  const isAvailable = available >= desiredReplicas(deployment) - fenceposts(deployment).unavailable
  const availability = isAvailable
    ? { status: 'True', reason: 'MinimumReplicasAvailable', message: 'Deployment has minimum availability.' }
    : { status: 'False', reason: 'MinimumReplicasUnavailable', message: 'Deployment does not have minimum availability.' }
  const counts = {
    replicas,
    updatedReplicas: sets.current === undefined ? 0 : actualReplicas([sets.current]),
    readyReplicas: sumOf(all, ({ status }) => status?.readyReplicas ?? 0),
    availableReplicas: available,
    // Pods that the replica sets have not created yet count as unavailable.
    unavailableReplicas: Math.max(0, sumOf(all, ({ spec }) => spec?.replicas ?? 0) - available),
  }
  return {
    observedGeneration: deployment.metadata.generation ?? 0,
    ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0)),
    ...(terminating === undefined ? {} : { terminatingReplicas: terminating }),
    conditions: withCondition(conditions as DeploymentCondition[], { type: 'Available', ...availability }, now),
    ...(collisionCount === undefined ? {} : { collisionCount }),
  }
}

/** The terminating pods of all sets; undefined when a set that its controller has seen does not count its own. */
function terminatingReplicas(sets: readonly ReadonlyReplicaSet[]): number | undefined {
  let count = 0
  for (const { status } of sets) {
    if (status?.terminatingReplicas === undefined && (status?.observedGeneration ?? 0) !== 0) return undefined
    count += status?.terminatingReplicas ?? 0
  }
  return count
}

/** Returns the status with replica counts and the Available and Progressing conditions. */
export function rolloutStatus(
  deployment: ReadonlyDeployment,
  sets: DeploymentReplicaSets,
  options: StatusOptions,
): DeploymentStatus {
  const counted = countStatus(deployment, sets, options)
  const conditions = withFailure(counted.conditions ?? [], sets, options)
  const status = { ...counted, conditions }
  if (!hasDeadline(deployment)) return { ...status, conditions: conditions.filter(({ type }) => type !== 'Progressing') }
  const current = conditionOf(status, 'Progressing')
  const isDone = status.replicas === status.updatedReplicas && current?.reason === 'NewReplicaSetAvailable'
  const progress = isDone ? undefined : progressOf(deployment, sets, status, options)
  return progress === undefined ? status : { ...status, conditions: withCondition(conditions, progress, options.now) }
}

/** Adds the ReplicaFailure condition of a replica set that failed to create or delete pods; the new set takes precedence. */
function withFailure(
  conditions: readonly DeploymentCondition[],
  { current, old }: DeploymentReplicaSets,
  { now }: StatusOptions,
): DeploymentCondition[] {
  const type = 'ReplicaFailure'
  const failures = [current, ...old].flatMap(
    (set) => set?.status?.conditions?.filter((condition) => condition.type === type) ?? [],
  )
  const [first] = failures
  if (first === undefined) return conditions.filter((condition) => condition.type !== type)
  const { status, reason = '', message = '' } = first
  return withCondition(conditions, { type, status, reason, message }, now)
}

function progressOf(
  deployment: ReadonlyDeployment,
  { current }: DeploymentReplicaSets,
  status: DeploymentStatus,
  { now }: StatusOptions,
): DeploymentCondition | undefined {
  const subject = current === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${current.metadata.name}"`
  const progressing = { type: 'Progressing', status: 'True' }
  if (isComplete(deployment, status)) {
    return { ...progressing, reason: 'NewReplicaSetAvailable', message: `${subject} has successfully progressed.` }
  }
  if (hasProgressed(deployment.status ?? {}, status)) {
    return { ...progressing, reason: 'ReplicaSetUpdated', message: `${subject} is progressing.` }
  }
  const isLate = (deadlineMs(deployment, status) ?? Number.POSITIVE_INFINITY) <= now
  if (!isLate) return undefined
  return {
    type: 'Progressing',
    status: 'False',
    reason: 'ProgressDeadlineExceeded',
    message: `${subject} has timed out progressing.`,
  }
}

/** Whether all desired replicas are updated and available, and no old ones remain. */
export function isComplete(deployment: ReadonlyDeployment, status: ReadonlyDeployment['status']): boolean {
  const wanted = desiredReplicas(deployment)
  return (
    (status?.updatedReplicas ?? 0) === wanted &&
    (status?.replicas ?? 0) === wanted &&
    (status?.availableReplicas ?? 0) === wanted &&
    (status?.observedGeneration ?? 0) >= (deployment.metadata.generation ?? 0)
  )
}

function hasProgressed(before: NonNullable<ReadonlyDeployment['status']>, now: DeploymentStatus): boolean {
  const count = (status: NonNullable<ReadonlyDeployment['status']>) => ({
    updated: status.updatedReplicas ?? 0,
    old: (status.replicas ?? 0) - (status.updatedReplicas ?? 0),
    ready: status.readyReplicas ?? 0,
    available: status.availableReplicas ?? 0,
  })
  const [a, b] = [count(before), count(now)]
  return b.updated > a.updated || b.old < a.old || b.ready > a.ready || b.available > a.available
}

/** Returns the time of the progress deadline; undefined when the rollout is complete or has exceeded it. */
export function deadlineMs(deployment: ReadonlyDeployment, status: ReadonlyDeployment['status']): number | undefined {
  const condition = conditionOf(status, 'Progressing')
  if (!hasDeadline(deployment) || condition === undefined) return undefined
  if (condition.reason === 'NewReplicaSetAvailable' || condition.reason === 'ProgressDeadlineExceeded') return undefined
  const since = condition.lastUpdateTime
  return since == null ? undefined : parseTime(since) + (deployment.spec?.progressDeadlineSeconds ?? 0) * 1000
}

const noDeadline = 2 ** 31 - 1

export function hasDeadline({ spec }: ReadonlyDeployment): boolean {
  const seconds = spec?.progressDeadlineSeconds
  return seconds !== undefined && seconds !== noDeadline
}

export function conditionOf(status: ReadonlyDeployment['status'], type: string) {
  return status?.conditions?.find((condition) => condition.type === type)
}

/** Sets a condition by type. A condition with the same status and reason is unchanged. */
export function withCondition(
  conditions: readonly DeploymentCondition[],
  next: DeploymentCondition,
  now: number,
): DeploymentCondition[] {
  const before = conditions.find(({ type }) => type === next.type)
  if (before?.status === next.status && before.reason === next.reason) return [...conditions]
  const time = formatTime(now)
  const lastTransitionTime = before?.status === next.status ? (before.lastTransitionTime ?? time) : time
  return [...conditions.filter(({ type }) => type !== next.type), { ...next, lastUpdateTime: time, lastTransitionTime }]
}
