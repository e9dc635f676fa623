import {
  actualReplicas,
  availableReplicas,
  byAge,
  type D,
  fenceposts,
  isRolling,
  type Marks,
  type R,
  specReplicas,
  wantedReplicas,
} from './objects.ts'
import { replicasMarks } from './replica-set-form.ts'

/** How many replicas each set shall have next: arithmetic alone. */

export interface Target {
  readonly set: R
  readonly replicas: number
}

/** The sets of a deployment; `current` has its template. */
export interface Sets {
  readonly current: R | undefined
  /** Oldest first. */
  readonly old: readonly R[]
}

export const allOf = ({ current, old }: Sets): readonly R[] => (current === undefined ? old : [...old, current])

/** The new set grows as far as the surge allows, or shrinks to what is wanted. */
export function targetOfNew(deployment: D, sets: Sets & { readonly current: R }): number {
  const wanted = wantedReplicas(deployment)
  const now = wantedReplicas(sets.current)
  if (!isRolling(deployment) || now >= wanted) return wanted
  const room = wanted + fenceposts(deployment).surge - specReplicas(allOf(sets))
  return room <= 0 ? now : now + Math.min(room, wanted - now)
}

/** Old sets shrink as far as enough pods stay available: first what is not healthy anyway. */
export function targetsOfOld(deployment: D, sets: Sets & { readonly current: R }): Target[] {
  const { current, old } = sets
  if (specReplicas(old) === 0) return []
  const least = wantedReplicas(deployment) - fenceposts(deployment).unavailable
  const coming = wantedReplicas(current) - (current.status?.availableReplicas ?? 0)
  const budget = specReplicas(allOf(sets)) - least - coming
  if (budget <= 0) return []
  const targets = new Map<R, number>(old.map((set) => [set, wantedReplicas(set)]))
  let spent = 0
  for (const [set, now] of targets) {
    const sick = now - (set.status?.availableReplicas ?? 0)
    const less = Math.min(Math.max(0, sick), budget - spent)
    targets.set(set, now - less)
    spent += less
  }
  let spare = availableReplicas(allOf(sets)) - least
  for (const [set, now] of targets) {
    if (spare <= 0) break
    const less = Math.min(now, spare)
    targets.set(set, now - less)
    spare -= less
  }
  return changed([...targets].map(([set, replicas]) => ({ set, replicas })))
}

/** Whether somebody wants another number of replicas than when the sets were last scaled. */
export function isScaled(deployment: D, sets: Sets, { desired }: Marks): boolean {
  const wanted = wantedReplicas(deployment)
  return active(allOf(sets)).some((set) => {
    const before = Number.parseInt(set.metadata.annotations?.[desired] ?? '', 10)
    return Number.isFinite(before) && before !== wanted
  })
}

/** Between rollouts the one set gets all; in the midst of one, each set gets its share. */
export function targetsOfScaling(deployment: D, sets: Sets, marks: Marks): Target[] {
  const wanted = wantedReplicas(deployment)
  const running = active(allOf(sets))
  if (running.length <= 1) {
    const only = running[0] ?? sets.current ?? sets.old.at(-1)
    return only === undefined ? [] : unsettled([{ set: only, replicas: wanted }], deployment, marks)
  }
  if (sets.current !== undefined && isSaturated(deployment, sets.current, marks)) {
    return changed(active(sets.old).map((set) => ({ set, replicas: 0 })))
  }
  return isRolling(deployment) ? unsettled(shares(deployment, running, marks), deployment, marks) : []
}

function shares(deployment: D, running: readonly R[], marks: Marks): Target[] {
  const wanted = wantedReplicas(deployment)
  const allowed = wanted > 0 ? wanted + fenceposts(deployment).surge : 0
  const toAdd = allowed - specReplicas(running)
  // Larger sets first; of equal ones the newest when growing, the oldest when shrinking.
  const sorted = [...running].sort((a, b) => wantedReplicas(b) - wantedReplicas(a) || (toAdd > 0 ? byAge(b, a) : byAge(a, b)))
  let added = 0
  const targets = sorted.map((set) => {
    const now = wantedReplicas(set)
    const before = Number.parseInt(set.metadata.annotations?.[marks.max] ?? '', 10) || deployment.status?.replicas || 0
    const share = wanted === 0 ? -now : before === 0 ? 0 : Math.round((now * allowed) / before) - now
    const part = toAdd > 0 ? Math.min(Math.max(0, share), toAdd - added) : Math.max(Math.min(0, share), toAdd - added)
    added += part
    return { set, replicas: now + part }
  })
  return targets.map((target, i) => (i === 0 ? { ...target, replicas: Math.max(0, target.replicas + toAdd - added) } : target))
}

/** Those that change, or do not remember yet what the deployment wants: as long as they do not, it counts as scaled. */
function unsettled(targets: readonly Target[], deployment: D, marks: Marks): Target[] {
  const remembered = Object.entries(replicasMarks(deployment, marks))
  return targets.filter(({ set, replicas }) => {
    return replicas !== wantedReplicas(set) || remembered.some(([name, text]) => set.metadata.annotations?.[name] !== text)
  })
}

function isSaturated(deployment: D, current: R, { desired }: Marks): boolean {
  const wanted = wantedReplicas(deployment)
  if (current.metadata.annotations?.[desired] !== String(wanted)) return false
  return wantedReplicas(current) === wanted && (current.status?.availableReplicas ?? 0) === wanted
}

/** Sets that nobody needs to go back to, the oldest revisions first. */
export function outdated(deployment: D, old: readonly R[], revision: (set: R) => bigint): readonly R[] {
  const limit = deployment.spec?.revisionHistoryLimit
  const alive = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  if (limit === undefined || alive.length <= limit) return []
  return [...alive]
    .sort((a, b) => Number(revision(a) - revision(b)) || byAge(a, b))
    .slice(0, alive.length - limit)
    .filter((set) => {
      const seen = (set.metadata.generation ?? 0) <= (set.status?.observedGeneration ?? 0)
      return seen && wantedReplicas(set) === 0 && actualReplicas([set]) === 0
    })
}

const active = (sets: readonly R[]): R[] => sets.filter((set) => wantedReplicas(set) > 0)
const changed = (targets: readonly Target[]): Target[] => targets.filter(({ set, replicas }) => replicas !== wantedReplicas(set))
