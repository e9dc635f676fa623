import {
  type AnnotationKeys,
  actualReplicas,
  availableReplicas,
  byAge,
  desiredReplicas,
  fenceposts,
  isRolling,
  type ReadonlyDeployment,
  type ReadonlyReplicaSet,
  specReplicas,
} from './objects.ts'
import { replicaAnnotations } from './replica-set-template.ts'

/** Computes the next number of replicas of each set. Pure functions. */

export interface ScaleTarget {
  readonly set: ReadonlyReplicaSet
  readonly replicas: number
}

/** The replica sets of a deployment; `current` has its template. */
export interface DeploymentReplicaSets {
  readonly current: ReadonlyReplicaSet | undefined
  /** Oldest first. */
  readonly old: readonly ReadonlyReplicaSet[]
}

export const allOf = ({ current, old }: DeploymentReplicaSets): readonly ReadonlyReplicaSet[] =>
  current === undefined ? old : [...old, current]

/** Returns the replicas of the new set: scaled up within the surge, or down to the desired number. */
export function newSetReplicas(
  deployment: ReadonlyDeployment,
  sets: DeploymentReplicaSets & { readonly current: ReadonlyReplicaSet },
): number {
  const wanted = desiredReplicas(deployment)
  const now = desiredReplicas(sets.current)
  if (!isRolling(deployment) || now >= wanted) return wanted
  const room = wanted + fenceposts(deployment).surge - specReplicas(allOf(sets))
  return room <= 0 ? now : now + Math.min(room, wanted - now)
}

/** Scales old sets down while enough pods stay available, unavailable replicas first. */
export function oldSetTargets(
  deployment: ReadonlyDeployment,
  sets: DeploymentReplicaSets & { readonly current: ReadonlyReplicaSet },
): ScaleTarget[] {
  const { current, old } = sets
  if (specReplicas(old) === 0) return []
  const minAvailable = desiredReplicas(deployment) - fenceposts(deployment).unavailable
  const newUnavailable = desiredReplicas(current) - (current.status?.availableReplicas ?? 0)
  const budget = specReplicas(allOf(sets)) - minAvailable - newUnavailable
  if (budget <= 0) return []
  const targets = new Map<ReadonlyReplicaSet, number>(old.map((set) => [set, desiredReplicas(set)]))
  let spent = 0
  for (const [set, now] of targets) {
    const unavailable = now - (set.status?.availableReplicas ?? 0)
    const reduction = Math.min(Math.max(0, unavailable), budget - spent)
    targets.set(set, now - reduction)
    spent += reduction
  }
  let spare = availableReplicas(allOf(sets)) - minAvailable
  for (const [set, now] of targets) {
    if (spare <= 0) break
    const reduction = Math.min(now, spare)
    targets.set(set, now - reduction)
    spare -= reduction
  }
  return changed([...targets].map(([set, replicas]) => ({ set, replicas })))
}

/** Whether the desired number of replicas has changed since the sets were last scaled. */
export function isScalingEvent(
  deployment: ReadonlyDeployment,
  sets: DeploymentReplicaSets,
  { desired }: AnnotationKeys,
): boolean {
  const wanted = desiredReplicas(deployment)
  return active(allOf(sets)).some((set) => {
    const before = Number.parseInt(set.metadata.annotations?.[desired] ?? '', 10)
    return Number.isFinite(before) && before !== wanted
  })
}

/** Distributes a changed number of replicas: all to the only active set, or proportionally during a rollout. */
export function scalingTargets(
  deployment: ReadonlyDeployment,
  sets: DeploymentReplicaSets,
  annotationKeys: AnnotationKeys,
): ScaleTarget[] {
  const wanted = desiredReplicas(deployment)
  const running = active(allOf(sets))
  if (running.length <= 1) {
    const only = running[0] ?? sets.current ?? sets.old.at(-1)
    return only === undefined ? [] : pendingTargets([{ set: only, replicas: wanted }], deployment, annotationKeys)
  }
  if (sets.current !== undefined && isSaturated(deployment, sets.current, annotationKeys)) {
    return changed(active(sets.old).map((set) => ({ set, replicas: 0 })))
  }
  return isRolling(deployment)
    ? pendingTargets(proportionalTargets(deployment, running, annotationKeys), deployment, annotationKeys)
    : []
}

function proportionalTargets(
  deployment: ReadonlyDeployment,
  running: readonly ReadonlyReplicaSet[],
  annotationKeys: AnnotationKeys,
): ScaleTarget[] {
  const wanted = desiredReplicas(deployment)
  const allowed = wanted > 0 ? wanted + fenceposts(deployment).surge : 0
  const toAdd = allowed - specReplicas(running)
  // Larger sets first; among equal ones the newest when scaling up, the oldest when scaling down.
  const sorted = [...running].sort((a, b) => desiredReplicas(b) - desiredReplicas(a) || (toAdd > 0 ? byAge(b, a) : byAge(a, b)))
  let added = 0
  const targets = sorted.map((set) => {
    const now = desiredReplicas(set)
    const before = Number.parseInt(set.metadata.annotations?.[annotationKeys.max] ?? '', 10) || deployment.status?.replicas || 0
    const share = wanted === 0 ? -now : before === 0 ? 0 : Math.round((now * allowed) / before) - now
    const part = toAdd > 0 ? Math.min(Math.max(0, share), toAdd - added) : Math.max(Math.min(0, share), toAdd - added)
    added += part
    return { set, replicas: now + part }
  })
  return targets.map((target, i) => (i === 0 ? { ...target, replicas: Math.max(0, target.replicas + toAdd - added) } : target))
}

/** Returns the targets that change replicas or annotations; stale annotations would count as a scaling event. */
function pendingTargets(
  targets: readonly ScaleTarget[],
  deployment: ReadonlyDeployment,
  annotationKeys: AnnotationKeys,
): ScaleTarget[] {
  const annotations = Object.entries(replicaAnnotations(deployment, annotationKeys))
  return targets.filter(({ set, replicas }) => {
    return replicas !== desiredReplicas(set) || annotations.some(([name, text]) => set.metadata.annotations?.[name] !== text)
  })
}

function isSaturated(deployment: ReadonlyDeployment, current: ReadonlyReplicaSet, { desired }: AnnotationKeys): boolean {
  const wanted = desiredReplicas(deployment)
  if (current.metadata.annotations?.[desired] !== String(wanted)) return false
  return desiredReplicas(current) === wanted && (current.status?.availableReplicas ?? 0) === wanted
}

/** Returns the sets beyond the revision history limit, oldest revisions first. */
export function setsToCleanUp(
  deployment: ReadonlyDeployment,
  old: readonly ReadonlyReplicaSet[],
  revision: (set: ReadonlyReplicaSet) => bigint,
): readonly ReadonlyReplicaSet[] {
  const limit = deployment.spec?.revisionHistoryLimit
  const alive = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  if (limit === undefined || alive.length <= limit) return []
  return [...alive]
    .sort((a, b) => Number(revision(a) - revision(b)) || byAge(a, b))
    .slice(0, alive.length - limit)
    .filter((set) => {
      const seen = (set.metadata.generation ?? 0) <= (set.status?.observedGeneration ?? 0)
      return seen && desiredReplicas(set) === 0 && actualReplicas([set]) === 0
    })
}

const active = (sets: readonly ReadonlyReplicaSet[]): ReadonlyReplicaSet[] => sets.filter((set) => desiredReplicas(set) > 0)
const changed = (targets: readonly ScaleTarget[]): ScaleTarget[] =>
  targets.filter(({ set, replicas }) => replicas !== desiredReplicas(set))
