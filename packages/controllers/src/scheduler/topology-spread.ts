import type { DeepReadonly } from '@krmkit/meta'
import { type LabelSelector, labelSelectorFromObject } from '@krmkit/meta/selectors'
import { matchesNode, untoleratedTaint } from '../workloads/node-selection.ts'
import type { ClusterView } from './cluster-view.ts'
import type { Refusal } from './filter-context.ts'
import type { NodeInfo, PodInfo } from './node-info.ts'
import type { TopologySpreadConstraint } from './objects.ts'

/** Topology spread: the filter for `DoNotSchedule`, and functions that the score shares. */

export interface SpreadConstraint {
  readonly topologyKey: string
  readonly maxSkew: number
  readonly minDomains: number
  readonly selector: LabelSelector
  readonly honorsAffinity: boolean
  readonly honorsTaints: boolean
}

export interface SpreadState {
  refusal(info: PodInfo, node: NodeInfo): Refusal | undefined
}

const plugin = 'PodTopologySpread'
const reason = "node(s) didn't match pod topology spread constraints"
const noSpread: SpreadState = { refusal: () => undefined }

/** Returns the constraints of a pod with the given action. */
export function constraintsOf(info: PodInfo, action: 'DoNotSchedule' | 'ScheduleAnyway'): SpreadConstraint[] {
  return (info.pod.spec?.topologySpreadConstraints ?? [])
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === action)
    .map((constraint) => ({
      topologyKey: constraint.topologyKey,
      maxSkew: constraint.maxSkew,
      minDomains: constraint.minDomains ?? 1,
      selector: selectorOf(constraint, info.labels),
      honorsAffinity: constraint.nodeAffinityPolicy !== 'Ignore',
      honorsTaints: constraint.nodeTaintsPolicy === 'Honor',
    }))
}

/** Returns the selector of a constraint. `matchLabelKeys` restrict it to pods with the same values of these labels. */
function selectorOf(
  { labelSelector, matchLabelKeys = [] }: DeepReadonly<TopologySpreadConstraint>,
  labels: Readonly<Record<string, string>>,
): LabelSelector {
  if (labelSelector == null || matchLabelKeys.length === 0) return labelSelectorFromObject(labelSelector)
  const added = matchLabelKeys.flatMap((key) => {
    const value = labels[key]
    return value === undefined ? [] : [{ key, operator: 'In', values: [value] }]
  })
  return labelSelectorFromObject({ ...labelSelector, matchExpressions: [...(labelSelector.matchExpressions ?? []), ...added] })
}

/** Whether the pods of a node count for a constraint. */
export function countsNode(constraint: SpreadConstraint, info: PodInfo, { node }: NodeInfo): boolean {
  const { spec } = info.pod
  if (constraint.honorsAffinity && !matchesNode(spec ?? {}, node)) return false
  return (
    !constraint.honorsTaints || untoleratedTaint(node.spec?.taints, spec?.tolerations, ['NoSchedule', 'NoExecute']) === undefined
  )
}

/** Counts the pods of a namespace on a node that a selector matches; terminating pods do not count. */
export function countMatching({ pods }: NodeInfo, selector: LabelSelector, namespace: string): number {
  let count = 0
  for (const other of pods.values()) {
    const isCounted = other.namespace === namespace && other.pod.metadata.deletionTimestamp === undefined
    if (isCounted && selector.matches(other.labels)) count++
  }
  return count
}

export function createSpread(info: PodInfo, view: ClusterView): SpreadState {
  const constraints = constraintsOf(info, 'DoNotSchedule')
  if (constraints.length === 0) return noSpread
  const counts = constraints.map(() => new Map<string, number>())
  for (const node of view.nodes.values()) {
    if (!constraints.every(({ topologyKey }) => node.labels[topologyKey] !== undefined)) continue
    constraints.forEach((constraint, index) => {
      if (!countsNode(constraint, info, node)) return
      const value = node.labels[constraint.topologyKey] as string
      const count = countMatching(node, constraint.selector, info.namespace)
      counts[index]!.set(value, (counts[index]!.get(value) ?? 0) + count)
    })
  }
  const fewest = constraints.map(({ minDomains }, index) => {
    const domains = counts[index]!
    return domains.size < minDomains ? 0 : Math.min(...domains.values())
  })
  return {
    refusal(_, node) {
      for (const [index, { topologyKey, maxSkew, selector }] of constraints.entries()) {
        const value = node.labels[topologyKey]
        if (value === undefined) return { plugin, reasons: [`${reason} (missing required label)`], isResolvable: false }
        const own = selector.matches(info.labels) ? 1 : 0
        const skew = (counts[index]!.get(value) ?? 0) + own - fewest[index]!
        if (skew > maxSkew) return { plugin, reasons: [reason], isResolvable: true }
      }
      return undefined
    },
  }
}
