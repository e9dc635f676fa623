import { type NamingProfile, parseTime } from '@krmkit/meta'
import type { ReadonlyPod } from './objects.ts'
import { isReady, podCondition } from './pod-state.ts'

export interface DeletionOrderOptions {
  readonly nowMs: number
  readonly profile: NamingProfile
  /** Returns how many related pods run on the node of a pod. Default: zero. */
  readonly rankOf?: (pod: ReadonlyPod) => number
  /** Whether to compare times exactly and to ignore deletion costs. Default false. */
  readonly isExact?: boolean
}

/**
 * Orders pods by preference for deletion. The first difference decides: unscheduled, phase, not ready, deletion cost, more
 * related pods on the same node, ready for a shorter time, more restarts, newer. Times are compared by the logarithm of
 * their age; ties are broken by uid.
 */
export function deletionOrder(pods: readonly ReadonlyPod[], options: DeletionOrderOptions): ReadonlyPod[] {
  const keys = new Map(pods.map((pod) => [pod, rankingOf(pod, options)]))
  return [...pods].sort((a, b) => compareRankings(keys.get(a)!, keys.get(b)!, options))
}

interface Ranking {
  /** Sort keys before the ages, compared one after the other, smaller first. */
  readonly first: readonly number[]
  readonly readySince: number | undefined
  readonly restarts: readonly number[]
  readonly createdAt: number | undefined
  readonly uid: string
}

const phases: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 }

function rankingOf(pod: ReadonlyPod, { profile, rankOf = () => 0, isExact = false }: DeletionOrderOptions): Ranking {
  const { metadata, spec, status } = pod
  const ready = isReady(pod)
  const since = ready ? podCondition(pod, 'Ready')?.lastTransitionTime : undefined
  const assigned = spec?.nodeName ? 1 : 0
  return {
    first: [assigned, phases[status?.phase ?? ''] ?? 0, ready ? 1 : 0, isExact ? 0 : deletionCost(pod, profile), -rankOf(pod)],
    readySince: ready ? (since == null ? Number.POSITIVE_INFINITY : parseTime(since)) : undefined,
    restarts: restartsOf(pod),
    createdAt: metadata.creationTimestamp == null ? Number.POSITIVE_INFINITY : parseTime(metadata.creationTimestamp),
    uid: metadata.uid ?? '',
  }
}

function compareRankings(a: Ranking, b: Ranking, options: DeletionOrderOptions): number {
  for (const [i, rank] of a.first.entries()) if (rank !== b.first[i]) return rank - b.first[i]!
  if (a.readySince !== undefined && b.readySince !== undefined && a.readySince !== b.readySince)
    return compareAges(a.readySince, b.readySince, options) || compareText(a.uid, b.uid)
  for (const [i, restarts] of a.restarts.entries()) if (restarts !== b.restarts[i]) return b.restarts[i]! - restarts
  if (a.createdAt !== b.createdAt) return compareAges(a.createdAt ?? 0, b.createdAt ?? 0, options) || compareText(a.uid, b.uid)
  return compareText(a.uid, b.uid)
}

/** Compares ages. An unknown time counts as the youngest. */
function compareAges(a: number, b: number, { nowMs, isExact = false }: DeletionOrderOptions): number {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return Number.isFinite(a) ? 1 : -1
  if (isExact) return b - a
  return ageClass(nowMs - a) - ageClass(nowMs - b)
}

function ageClass(ms: number): number {
  return ms > 0 ? Math.trunc(Math.log2(ms * 1e6)) : -1
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Returns the deletion cost from the annotation of a pod; pods with lower costs are deleted first. */
function deletionCost({ metadata }: ReadonlyPod, { domain }: NamingProfile): number {
  const text = metadata.annotations?.[`controller.${domain}/pod-deletion-cost`]
  return text !== undefined && /^(0|-?[1-9]\d{0,9})$/.test(text) ? Number(text) : 0
}

/** Returns the highest restart count of the containers and of the sidecars. */
function restartsOf({ spec, status }: ReadonlyPod): readonly number[] {
  const sidecars = new Set(
    spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  )
  const most = (counts: readonly (number | undefined)[] = []) => Math.max(0, ...counts.map((count) => count ?? 0))
  return [
    most(status?.containerStatuses?.map(({ restartCount }) => restartCount)),
    most(status?.initContainerStatuses?.filter(({ name }) => sidecars.has(name)).map(({ restartCount }) => restartCount)),
  ]
}
