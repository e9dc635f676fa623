import { type DeepReadonly, parseTime } from '@krmkit/meta'
import { labelSelectorFromObject } from '@krmkit/meta/selectors'
import { type ClusterView, withNode } from './cluster-view.ts'
import type { FilterContext, Refusal } from './filter-context.ts'
import { PodFilter } from './filters.ts'
import type { NodeInfo, PodInfo } from './node-info.ts'
import type { Budget } from './objects.ts'

/** Finds pods of lower priority whose removal makes room for a pod. */

export interface PreemptionContext extends FilterContext {
  readonly view: ClusterView
  /** Why each node is infeasible, by node. */
  readonly refusals: ReadonlyMap<string, Refusal>
  readonly budgets: readonly DeepReadonly<Budget>[]
}

export interface Preemption {
  readonly node: string
  readonly victims: readonly PodInfo[]
}

interface Candidate extends Preemption {
  /** Number of victims that a disruption budget protects. */
  readonly violations: number
}

/** Returns the best node with its victims, or the reasons by node when there is none. */
export function findPreemption(
  info: PodInfo,
  context: PreemptionContext,
): { readonly found: Preemption } | { readonly found: undefined; readonly refusals: ReadonlyMap<string, readonly string[]> } {
  const candidates: Candidate[] = []
  const refusals = new Map<string, readonly string[]>()
  for (const node of context.view.nodes.values()) {
    if (context.refusals.get(node.name)?.isResolvable === false) {
      refusals.set(node.name, ['Preemption is not helpful for scheduling'])
      continue
    }
    const candidate = victimsOn(info, node, context)
    if ('victims' in candidate) candidates.push(candidate)
    else refusals.set(node.name, candidate.reasons)
  }
  const found = bestCandidate(candidates)
  return found === undefined ? { found, refusals } : { found }
}

function victimsOn(
  info: PodInfo,
  node: NodeInfo,
  context: PreemptionContext,
): Candidate | { readonly reasons: readonly string[] } {
  const lower = [...node.pods.values()].filter(({ priority }) => priority < info.priority).sort(byImportance)
  if (lower.length === 0) return { reasons: ['No preemption victims found for incoming pod'] }
  const removed = new Set(lower)
  const refusal = refusalWithout(info, node, { removed, context })
  if (refusal !== undefined) return { reasons: refusal.reasons }
  const { violating, others } = splitByBudget(lower, context.budgets)
  const victims: PodInfo[] = []
  let violations = 0
  for (const other of [...violating, ...others]) {
    removed.delete(other)
    if (refusalWithout(info, node, { removed, context }) === undefined) continue
    removed.add(other)
    victims.push(other)
    if (violating.includes(other)) violations++
  }
  return { node: node.name, victims: victims.sort(byImportance), violations }
}

function refusalWithout(
  info: PodInfo,
  node: NodeInfo,
  { removed, context }: { readonly removed: ReadonlySet<PodInfo>; readonly context: PreemptionContext },
): Refusal | undefined {
  const without = node.with({ removed })
  return new PodFilter(info, withNode(context.view, without), context).refusal(without)
}

/** Separates the pods whose eviction would violate a budget, counting down the allowed disruptions of each budget. */
function splitByBudget(pods: readonly PodInfo[], budgets: readonly DeepReadonly<Budget>[]) {
  const allowed = budgets.map(({ status }) => status?.disruptionsAllowed ?? 0)
  const selectors = budgets.map(({ spec }) => labelSelectorFromObject(spec?.selector))
  const violating: PodInfo[] = []
  const others: PodInfo[] = []
  for (const info of pods) {
    let isViolating = false
    for (const [index, budget] of budgets.entries()) {
      const isCovered =
        budget.metadata.namespace === info.namespace &&
        selectors[index]?.empty === false &&
        selectors[index].matches(info.labels) &&
        !Object.hasOwn(budget.status?.disruptedPods ?? {}, info.pod.metadata.name ?? '')
      if (!isCovered) continue
      allowed[index]!--
      if (allowed[index]! < 0) isViolating = true
    }
    if (isViolating) violating.push(info)
    else others.push(info)
  }
  return { violating, others }
}

/** Orders pods: higher priority first, then those that started earlier. */
function byImportance(a: PodInfo, b: PodInfo): number {
  return b.priority - a.priority || startOf(a) - startOf(b)
}

/** Returns the start time of a pod; infinity for a pod that has not started. */
function startOf({ pod }: PodInfo): number {
  const start = pod.status?.startTime
  return start == null ? Number.MAX_SAFE_INTEGER : parseTime(start)
}

const priorityOffset = 2 ** 31

/**
 * Prefers, in order: fewest violated budgets, lowest priority of the most important victim, lowest sum of priorities, fewest victims,
 * latest start of the earliest of the most important victims.
 */
function bestCandidate(candidates: readonly Candidate[]): Candidate | undefined {
  const criteria: ((candidate: Candidate) => number)[] = [
    ({ violations }) => violations,
    ({ victims }) => victims[0]?.priority ?? Number.MIN_SAFE_INTEGER,
    ({ victims }) => victims.reduce((sum, { priority }) => sum + priority + priorityOffset, 0),
    ({ victims }) => victims.length,
    ({ victims }) => {
      const highest = victims.filter(({ priority }) => priority === victims[0]?.priority)
      return -Math.min(...highest.map(startOf))
    },
  ]
  let best = [...candidates]
  for (const criterion of criteria) {
    const least = Math.min(...best.map(criterion))
    best = best.filter((candidate) => criterion(candidate) === least)
    if (best.length <= 1) break
  }
  return best[0]
}
