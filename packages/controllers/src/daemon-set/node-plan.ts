import type { NamingProfile } from '@krmkit/meta'
import type { ReadonlyPod } from '../workloads/objects.ts'
import { isAvailable, isReady, isTerminating } from '../workloads/pod-state.ts'
import { byAge, isUpdated, placementOn, type ReadonlyDaemonSet, type ReadonlyNode, updateLimits } from './objects.ts'

/** Computes the pods that a daemon set creates and deletes. Pure functions. */

export interface DaemonSetView {
  readonly set: ReadonlyDaemonSet
  readonly nodes: readonly ReadonlyNode[]
  /** The pods by node, including nodes that do not exist. */
  readonly podsByNode: ReadonlyMap<string, readonly ReadonlyPod[]>
  /** Hash of the current template. */
  readonly hash: string
  readonly nowMs: number
  readonly profile: NamingProfile
}

export interface NodePlan {
  /** Nodes that need a pod. */
  readonly create: string[]
  readonly delete: ReadonlyPod[]
  /** The pods in `delete` that have ended, with their nodes. */
  readonly ended: { readonly pod: ReadonlyPod; readonly node: string }[]
}

/**
 * Plans one pod on every matching node and none elsewhere. With surge, a node keeps its old pod until the new one is
 * available.
 *
 * @param mayDeleteFailed whether the backoff allows the deletion of a failed pod on the node
 */
export function planNodes(view: DaemonSetView, mayDeleteFailed: (node: string) => boolean): NodePlan {
  const plan: NodePlan = { create: [], delete: [], ended: [] }
  const known = new Set<string>()
  for (const node of view.nodes) {
    const name = node.metadata.name ?? ''
    known.add(name)
    planNode(view, { node, plan, mayDeleteFailed: () => mayDeleteFailed(name) })
  }
  // The scheduler can never bind pods of deleted nodes.
  for (const [name, pods] of view.podsByNode)
    if (!known.has(name)) plan.delete.push(...pods.filter(({ spec }) => !spec?.nodeName))
  return plan
}

function planNode(
  view: DaemonSetView,
  {
    node,
    plan,
    mayDeleteFailed,
  }: { readonly node: ReadonlyNode; readonly plan: NodePlan; readonly mayDeleteFailed: () => boolean },
): void {
  const { set, podsByNode, profile } = view
  const name = node.metadata.name ?? ''
  const { shouldRun, mayStay } = placementOn(set, node, profile)
  const pods = podsByNode.get(name)
  if (shouldRun && pods === undefined) {
    plan.create.push(name)
    return
  }
  const alive = (pods ?? []).filter((pod) => !isTerminating(pod))
  if (!mayStay) {
    plan.delete.push(...alive)
    return
  }
  const running: ReadonlyPod[] = []
  for (const pod of alive) {
    const phase = pod.status?.phase
    if (phase === 'Succeeded' || (phase === 'Failed' && mayDeleteFailed())) {
      plan.delete.push(pod)
      plan.ended.push({ pod, node: name })
    } else if (phase !== 'Failed') running.push(pod)
  }
  running.sort(byAge)
  if (updateLimits(set, 1).surge === 0) plan.delete.push(...running.slice(1))
  else if (running.length === 0 && shouldRun) plan.create.push(name)
  else plan.delete.push(...surplusWithSurge(view, running))
}

/**
 * Returns all but the oldest pod of the current template and the oldest outdated pod. The outdated pod is surplus, too, once
 * it is not ready or the updated pod is available.
 */
function surplusWithSurge({ set, hash, nowMs }: DaemonSetView, running: readonly ReadonlyPod[]): readonly ReadonlyPod[] {
  if (running.length <= 1) return []
  const updated = running.find((pod) => isUpdated(set, pod, hash))
  const outdated = running.find((pod) => !isUpdated(set, pod, hash))
  const surplus = running.filter((pod) => pod !== updated && pod !== outdated)
  if (updated === undefined || outdated === undefined) return surplus
  const isReplaced = !isReady(outdated) || isAvailable(updated, set.spec?.minReadySeconds, nowMs)
  return isReplaced ? [...surplus, outdated] : surplus
}

/** Plans the replacement of pods of old templates, within the limits of the strategy. */
export function planUpdate(view: DaemonSetView): NodePlan {
  const { set, nodes, podsByNode, profile } = view
  const wanted = new Set(
    nodes.filter((node) => placementOn(set, node, profile).shouldRun).map(({ metadata }) => metadata.name ?? ''),
  )
  const byNode = new Map(podsByNode)
  for (const name of wanted) if (!byNode.has(name)) byNode.set(name, [])
  const limits = updateLimits(set, wanted.size)
  return limits.surge === 0
    ? planDeletions(view, byNode, limits.unavailable)
    : planSurge(view, { byNode, wanted, surge: limits.surge })
}

/** Returns the updated and the outdated pod of a node; undefined when the node has several of either. */
function pairOn({ set, hash }: DaemonSetView, pods: readonly ReadonlyPod[]) {
  const alive = pods.filter((pod) => !isTerminating(pod))
  const [updated, ...moreUpdated] = alive.filter((pod) => isUpdated(set, pod, hash))
  const [outdated, ...moreOutdated] = alive.filter((pod) => !isUpdated(set, pod, hash))
  return moreUpdated.length + moreOutdated.length > 0 ? undefined : { updated, outdated }
}

function planDeletions(
  view: DaemonSetView,
  byNode: ReadonlyMap<string, readonly ReadonlyPod[]>,
  maxUnavailable: number,
): NodePlan {
  const { set, nowMs } = view
  const available = (pod: ReadonlyPod) => isAvailable(pod, set.spec?.minReadySeconds, nowMs)
  let unavailable = 0
  const replaced: ReadonlyPod[] = []
  const candidates: ReadonlyPod[] = []
  for (const pods of byNode.values()) {
    const { updated, outdated } = pairOn(view, pods) ?? {}
    if ((updated === undefined) === (outdated === undefined)) unavailable++
    else if (updated !== undefined) unavailable += available(updated) ? 0 : 1
    else if (outdated !== undefined && !available(outdated)) {
      replaced.push(outdated)
      unavailable++
    } else if (outdated !== undefined && unavailable < maxUnavailable) candidates.push(outdated)
  }
  return { create: [], delete: [...replaced, ...candidates.slice(0, Math.max(0, maxUnavailable - unavailable))], ended: [] }
}

function planSurge(
  view: DaemonSetView,
  options: {
    readonly byNode: ReadonlyMap<string, readonly ReadonlyPod[]>
    readonly wanted: ReadonlySet<string>
    readonly surge: number
  },
): NodePlan {
  const { set, nowMs } = view
  const { byNode, wanted, surge } = options
  const available = (pod: ReadonlyPod) => isAvailable(pod, set.spec?.minReadySeconds, nowMs)
  let surging = 0
  let availablePods = 0
  const plan: NodePlan = { create: [], delete: [], ended: [] }
  const misplaced: ReadonlyPod[] = []
  const candidates: string[] = []
  for (const [name, pods] of byNode) {
    const pair = pairOn(view, pods)
    if (pair === undefined) {
      surging++
      continue
    }
    const { updated, outdated } = pair
    const counted = outdated ?? updated
    if (counted !== undefined && available(counted)) availablePods++
    if (outdated === undefined) continue
    if (updated !== undefined) {
      if (available(updated)) plan.delete.push(outdated)
      else surging++
    } else if (!wanted.has(name)) (available(outdated) ? misplaced : plan.delete).push(outdated)
    else if (!available(outdated)) plan.create.push(name)
    else if (surging < surge) candidates.push(name)
  }
  // A pod on a node that is no longer selected is deleted only if enough other pods are available.
  plan.delete.push(...misplaced.slice(0, Math.max(0, availablePods - wanted.size)))
  plan.create.push(...candidates.slice(0, Math.max(0, surge - surging)))
  return plan
}
