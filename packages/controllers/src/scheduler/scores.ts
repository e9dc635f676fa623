import type { LabelSelector } from '@krmkit/meta/selectors'
import { matchesTerm, tolerates } from '../workloads/node-selection.ts'
import { termMatches, type WeightedTerm } from './affinity-terms.ts'
import type { ClusterView } from './cluster-view.ts'
import type { FilterContext } from './filter-context.ts'
import type { NodeInfo, PodInfo } from './node-info.ts'
import { constraintsOf, countMatching, countsNode, type SpreadConstraint } from './topology-spread.ts'

/** Scores nodes: 0 to 100 by each plugin. Differs: image locality is not scored. */

export interface ScoreContext extends Pick<FilterContext, 'profile' | 'namespaceLabels'> {
  readonly view: ClusterView
  /** Returns the selector for the default spreading of a pod; undefined when the pod belongs to no service or workload. */
  readonly defaultSelector: (info: PodInfo) => LabelSelector | undefined
}

type Score = (info: PodInfo, nodes: readonly NodeInfo[], context: ScoreContext) => readonly number[]

const maxScore = 100

/** The plugins and their weights in the default profile of kube-scheduler. */
const weighted: readonly (readonly [weight: number, score: Score])[] = [
  [3, taintToleration],
  [2, nodeAffinity],
  [1, leastAllocated],
  [2, topologySpread],
  [2, podAffinity],
  [1, balancedAllocation],
]

/** Returns the sum of the weighted scores of each node. */
export function scoreNodes(info: PodInfo, nodes: readonly NodeInfo[], context: ScoreContext): number[] {
  const sums = nodes.map(() => 0)
  for (const [weight, score] of weighted) {
    for (const [index, value] of score(info, nodes, context).entries()) sums[index]! += weight * value
  }
  return sums
}

function taintToleration({ pod }: PodInfo, nodes: readonly NodeInfo[]): readonly number[] {
  const tolerations = (pod.spec?.tolerations ?? []).filter(({ effect = '' }) => effect === '' || effect === 'PreferNoSchedule')
  const counts = nodes.map(
    ({ node }) =>
      (node.spec?.taints ?? []).filter(
        (taint) => taint.effect === 'PreferNoSchedule' && !tolerations.some((toleration) => tolerates(toleration, taint)),
      ).length,
  )
  return normalized(counts).map((score) => maxScore - score)
}

function nodeAffinity({ pod }: PodInfo, nodes: readonly NodeInfo[]): readonly number[] {
  const preferred = pod.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []
  if (preferred.length === 0) return []
  const isEmpty = ({ preference }: (typeof preferred)[number]) =>
    (preference.matchExpressions ?? []).length + (preference.matchFields ?? []).length === 0
  return normalized(
    nodes.map(({ node }) =>
      preferred.reduce((sum, term) => sum + (!isEmpty(term) && matchesTerm(term.preference, node) ? term.weight : 0), 0),
    ),
  )
}

function normalized(counts: readonly number[]): readonly number[] {
  const most = Math.max(...counts, 0)
  return most === 0 ? counts : counts.map((count) => Math.trunc((maxScore * count) / most))
}

const scoredResources = ['cpu', 'memory']

function leastAllocated({ assumedRequests }: PodInfo, nodes: readonly NodeInfo[]): readonly number[] {
  return nodes.map(({ allocatable, assumedRequested }) => {
    let sum = 0
    let count = 0
    for (const name of scoredResources) {
      const total = allocatable.get(name) ?? 0
      if (total === 0) continue
      const requested = (assumedRequested.get(name) ?? 0) + (assumedRequests.get(name) ?? 0)
      sum += requested > total ? 0 : Math.trunc(((total - requested) * maxScore) / total)
      count++
    }
    return count === 0 ? 0 : Math.trunc(sum / count)
  })
}

function balancedAllocation({ requests }: PodInfo, nodes: readonly NodeInfo[]): readonly number[] {
  if (scoredResources.every((name) => (requests.get(name) ?? 0) === 0)) return []
  return nodes.map(({ allocatable, requested }) => {
    const fractions = scoredResources.flatMap((name) => {
      const total = allocatable.get(name) ?? 0
      return total === 0 ? [] : [Math.min(1, ((requested.get(name) ?? 0) + (requests.get(name) ?? 0)) / total)]
    })
    const [first = 0, second = first] = fractions
    return Math.trunc((1 - Math.abs(first - second) / 2) * maxScore)
  })
}

function podAffinity(info: PodInfo, nodes: readonly NodeInfo[], { view, namespaceLabels }: ScoreContext): readonly number[] {
  const { preferred, preferredAnti } = info.terms
  const isAttracted = preferred.length + preferredAnti.length > 0
  const scores = new Map<string, number>()
  const add = (term: WeightedTerm, weight: number, { target, node }: { target: PodInfo; node: NodeInfo }) => {
    const value = node.labels[term.topologyKey]
    if (value === undefined || !termMatches(term, target, namespaceLabels)) return
    const key = `${term.topologyKey}=${value}`
    scores.set(key, (scores.get(key) ?? 0) + weight)
  }
  for (const node of view.nodes.values()) {
    for (const other of isAttracted ? node.pods.values() : node.attracting) {
      for (const term of preferred) add(term, term.weight, { target: other, node })
      for (const term of preferredAnti) add(term, -term.weight, { target: other, node })
      const target = info
      for (const term of other.terms.required) add({ ...term, weight: 1 }, 1, { target, node })
      for (const term of other.terms.preferred) add(term, term.weight, { target, node })
      for (const term of other.terms.preferredAnti) add(term, -term.weight, { target, node })
    }
  }
  if (scores.size === 0) return []
  const sums = nodes.map(({ labels }) =>
    Object.entries(labels).reduce((sum, [key, value]) => sum + (scores.get(`${key}=${value}`) ?? 0), 0),
  )
  const least = Math.min(...sums)
  const range = Math.max(...sums) - least
  return sums.map((sum) => (range > 0 ? Math.trunc((maxScore * (sum - least)) / range) : 0))
}

function topologySpread(info: PodInfo, nodes: readonly NodeInfo[], context: ScoreContext): readonly number[] {
  const isDefault = (info.pod.spec?.topologySpreadConstraints ?? []).length === 0
  const constraints = isDefault ? defaultConstraints(info, context) : constraintsOf(info, 'ScheduleAnyway')
  if (constraints.length === 0) return []
  const hostname = `${context.profile.domain}/hostname`
  const hasLabels = ({ labels }: NodeInfo) =>
    isDefault || constraints.every(({ topologyKey }) => labels[topologyKey] !== undefined)
  const scored = nodes.filter(hasLabels)
  const sums = new Map(scored.map((node) => [node, 0]))
  for (const constraint of constraints) {
    const isHostname = constraint.topologyKey === hostname
    const counts = isHostname ? undefined : domainCounts(info, { constraint, scored, hasLabels, view: context.view })
    const weight = Math.log((counts?.size ?? scored.length) + 2)
    for (const node of scored) {
      const value = node.labels[constraint.topologyKey]
      if (value === undefined) continue
      const count = counts?.get(value) ?? countMatching(node, constraint.selector, info.namespace)
      sums.set(node, (sums.get(node) ?? 0) + count * weight + constraint.maxSkew - 1)
    }
  }
  const rounded = new Map([...sums].map(([node, sum]) => [node, Math.round(sum)]))
  const least = Math.min(...rounded.values())
  const most = Math.max(...rounded.values(), 0)
  return nodes.map((node) => {
    const sum = rounded.get(node)
    if (sum === undefined) return 0
    return most === 0 ? maxScore : Math.trunc((maxScore * (most + least - sum)) / most)
  })
}

/** Counts the matching pods in each domain that has a scored node. */
function domainCounts(
  info: PodInfo,
  options: {
    readonly constraint: SpreadConstraint
    readonly scored: readonly NodeInfo[]
    readonly hasLabels: (node: NodeInfo) => boolean
    readonly view: ClusterView
  },
): ReadonlyMap<string, number> {
  const { constraint, scored, hasLabels, view } = options
  const { topologyKey, selector } = constraint
  const counts = new Map(scored.map(({ labels }) => [labels[topologyKey] ?? '', 0]))
  for (const node of view.nodes.values()) {
    const value = node.labels[topologyKey] ?? ''
    const count = counts.get(value)
    if (count === undefined || !hasLabels(node) || !countsNode(constraint, info, node)) continue
    counts.set(value, count + countMatching(node, selector, info.namespace))
  }
  return counts
}

/** The default constraints spread the pods of services and workloads over hosts and zones. */
function defaultConstraints(info: PodInfo, { profile, defaultSelector }: ScoreContext): SpreadConstraint[] {
  const selector = defaultSelector(info)
  if (selector === undefined) return []
  const common = { minDomains: 1, selector, honorsAffinity: true, honorsTaints: false }
  return [
    { ...common, topologyKey: `${profile.domain}/hostname`, maxSkew: 3 },
    { ...common, topologyKey: `topology.${profile.domain}/zone`, maxSkew: 5 },
  ]
}
