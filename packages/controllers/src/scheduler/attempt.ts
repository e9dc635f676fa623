import type { DeepReadonly, Random } from '@krmkit/meta'
import type { ClusterView } from './cluster-view.ts'
import type { FilterContext, Refusal } from './filter-context.ts'
import { PodFilter } from './filters.ts'
import { fitMessage, podProblemMessage } from './fit-error.ts'
import type { NodeInfo, PodInfo } from './node-info.ts'
import type { Budget, ReadonlyPod } from './objects.ts'
import { findPreemption, type Preemption } from './preemption.ts'
import { type ScoreContext, scoreNodes } from './scores.ts'

/** The result of one scheduling attempt. */
export type Attempt =
  | { readonly kind: 'node'; readonly node: NodeInfo }
  | {
      readonly kind: 'refused'
      readonly message: string
      /** Plugins that rejected the pod. */
      readonly plugins: ReadonlySet<string>
      readonly preemption: Preemption | undefined
    }

export interface AttemptContext extends FilterContext, ScoreContext {
  readonly view: ClusterView
  readonly random: Random
  readonly budgets: () => readonly DeepReadonly<Budget>[]
}

/** Selects a node for a pod, or explains why no node is feasible. Has no side effects. */
export function attemptPod(info: PodInfo, context: AttemptContext): Attempt {
  const { view, volumes } = context
  if (view.nodes.size === 0) {
    return { kind: 'refused', message: 'no nodes available to schedule pods', plugins: new Set(), preemption: undefined }
  }
  if (volumes.problem !== undefined) {
    const message = podProblemMessage(view.nodes.size, volumes.problem)
    const unhelpful = fitMessage(
      view.nodes.size,
      [...view.nodes.keys()].map(() => ['Preemption is not helpful for scheduling']),
    )
    const plugins = new Set(['VolumeBinding'])
    return { kind: 'refused', message: `${message} preemption: ${unhelpful}`, plugins, preemption: undefined }
  }
  const filter = new PodFilter(info, view, context)
  const refusals = new Map<string, Refusal>()
  const nominated = view.nodes.get(info.pod.status?.nominatedNodeName ?? '')
  if (nominated !== undefined && filter.refusal(nominated) === undefined) return { kind: 'node', node: nominated }
  const feasible: NodeInfo[] = []
  for (const node of candidateNodes(info.pod, view)) {
    const refusal = filter.refusal(node)
    if (refusal === undefined) feasible.push(node)
    else refusals.set(node.name, refusal)
  }
  if (feasible.length > 0) return { kind: 'node', node: bestNode(info, feasible, context) }
  const absent = [...view.nodes.keys()].filter((name) => !refusals.has(name))
  for (const name of absent) {
    const reasons = ["node(s) didn't satisfy plugin(s) [NodeAffinity]"]
    refusals.set(name, { plugin: 'NodeAffinity', reasons, isResolvable: false })
  }
  return refused(info, refusals, context)
}

/**
 * Returns the nodes to filter: if every term of the required node affinity matches nodes by name, only these; otherwise all.
 */
function candidateNodes({ spec }: ReadonlyPod, { nodes }: ClusterView): Iterable<NodeInfo> {
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const names = new Set<string>()
  for (const { matchFields = [] } of terms) {
    const named = matchFields.filter(({ key, operator }) => key === 'metadata.name' && operator === 'In')
    if (named.length === 0) return nodes.values()
    for (const { values = [] } of named) for (const name of values) names.add(name)
  }
  return terms.length === 0 ? nodes.values() : [...names].flatMap((name) => nodes.get(name) ?? [])
}

/** Returns a random node among those with the highest score. */
function bestNode(info: PodInfo, nodes: readonly NodeInfo[], context: AttemptContext): NodeInfo {
  if (nodes.length === 1) return nodes[0]!
  const scores = scoreNodes(info, nodes, context)
  const highest = Math.max(...scores)
  const best = nodes.filter((_, index) => scores[index] === highest)
  const [high = 0, low = 0] = context.random.bytes(2)
  return best[((high << 8) | low) % best.length]!
}

function refused(info: PodInfo, refusals: ReadonlyMap<string, Refusal>, context: AttemptContext): Attempt {
  const { view } = context
  const message = fitMessage(
    view.nodes.size,
    [...refusals.values()].map(({ reasons }) => reasons),
  )
  const plugins = new Set([...refusals.values()].map(({ plugin }) => plugin))
  const ineligible = ineligibility(info, view)
  if (ineligible !== undefined)
    return { kind: 'refused', message: `${message} preemption: ${ineligible}`, plugins, preemption: undefined }
  const result = findPreemption(info, { ...context, refusals, budgets: context.budgets() })
  if (result.found !== undefined) return { kind: 'refused', message, plugins, preemption: result.found }
  const unhelpful = fitMessage(view.nodes.size, result.refusals.values())
  return { kind: 'refused', message: `${message} preemption: ${unhelpful}`, plugins, preemption: undefined }
}

/** Returns why a pod may not preempt others; undefined when it may. */
function ineligibility({ pod, priority }: PodInfo, { nodes }: ClusterView): string | undefined {
  if (pod.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.'
  const nominated = nodes.get(pod.status?.nominatedNodeName ?? '')
  const isLeaving = (other: PodInfo) => other.priority < priority && other.pod.metadata.deletionTimestamp !== undefined
  if (nominated !== undefined && [...nominated.pods.values()].some(isLeaving))
    return 'not eligible due to a terminating pod on the nominated node.'
  return undefined
}
