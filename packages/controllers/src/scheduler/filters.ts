import { matchesNode, tolerates, untoleratedTaint } from '../workloads/node-selection.ts'
import { type ClusterView, withNode } from './cluster-view.ts'
import type { FilterContext, Refusal } from './filter-context.ts'
import { createPodAffinity, type PodAffinityState } from './inter-pod-affinity.ts'
import type { NodeInfo, PodInfo } from './node-info.ts'
import { createSpread, type SpreadState } from './topology-spread.ts'

/** State that filters compute once for all nodes of a view. */
interface FilterState {
  readonly spread: SpreadState
  readonly affinity: PodAffinityState
}

type Filter = (info: PodInfo, node: NodeInfo, context: FilterContext & FilterState) => Refusal | undefined

/** The filters in the order of kube-scheduler: the first filter that rejects a node determines the reason. */
const filters: readonly Filter[] = [
  unschedulable,
  nodeName,
  taints,
  nodeAffinity,
  nodePorts,
  resources,
  (info, node, { volumes }) => volumes.refusal(info, node),
  (info, node, { spread }) => spread.refusal(info, node),
  (info, node, { affinity }) => affinity.refusal(info, node),
]

/** Runs the filters for one pod on the nodes of one view. */
export class PodFilter {
  readonly #info: PodInfo
  readonly #view: ClusterView
  readonly #context: FilterContext
  readonly #state: FilterState

  constructor(info: PodInfo, view: ClusterView, context: FilterContext) {
    this.#info = info
    this.#view = view
    this.#context = context
    this.#state = { spread: createSpread(info, view), affinity: createPodAffinity(info, view, context) }
  }

  /**
   * Returns why a node is not feasible; undefined when it is. Pods of the same or a higher priority that are nominated to the
   * node count as running there.
   */
  refusal(node: NodeInfo): Refusal | undefined {
    const { uid, priority } = this.#info
    const nominated = [...this.#view.nominatedTo(node.name)].filter((other) => other.uid !== uid && other.priority >= priority)
    if (nominated.length > 0) {
      const crowded = node.with({ added: nominated })
      const refusal = new PodFilter(this.#info, withNode(this.#view, crowded), this.#context).#refusal(crowded)
      if (refusal !== undefined) return refusal
    }
    return this.#refusal(node)
  }

  #refusal(node: NodeInfo): Refusal | undefined {
    const context = { ...this.#context, ...this.#state }
    for (const filter of filters) {
      const refusal = filter(this.#info, node, context)
      if (refusal !== undefined) return refusal
    }
    return undefined
  }
}

function unschedulable({ pod }: PodInfo, { node }: NodeInfo, { profile }: FilterContext): Refusal | undefined {
  if (node.spec?.unschedulable !== true) return undefined
  const taint = { key: `node.${profile.domain}/unschedulable`, effect: 'NoSchedule' }
  if (pod.spec?.tolerations?.some((toleration) => tolerates(toleration, taint))) return undefined
  return { plugin: 'NodeUnschedulable', reasons: ['node(s) were unschedulable'], isResolvable: false }
}

function nodeName({ pod }: PodInfo, { name }: NodeInfo): Refusal | undefined {
  const requested = pod.spec?.nodeName ?? ''
  if (requested === '' || requested === name) return undefined
  return { plugin: 'NodeName', reasons: ["node(s) didn't match the requested node name"], isResolvable: false }
}

function taints({ pod }: PodInfo, { node }: NodeInfo): Refusal | undefined {
  const taint = untoleratedTaint(node.spec?.taints, pod.spec?.tolerations, ['NoSchedule', 'NoExecute'])
  if (taint === undefined) return undefined
  const reason = `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`
  return { plugin: 'TaintToleration', reasons: [reason], isResolvable: false }
}

/** Whether the node has the labels that the pod requires. */
export function nodeAffinity({ pod }: PodInfo, { node }: NodeInfo): Refusal | undefined {
  if (matchesNode(pod.spec ?? {}, node)) return undefined
  return { plugin: 'NodeAffinity', reasons: ["node(s) didn't match Pod's node affinity/selector"], isResolvable: false }
}

/** Whether the ports of the node that the pod requires are free. */
export function nodePorts({ ports }: PodInfo, { pods }: NodeInfo): Refusal | undefined {
  if (ports.size === 0) return undefined
  if (![...pods.values()].some((info) => info.ports.conflictsWith(ports))) return undefined
  const reasons = ["node(s) didn't have free ports for the requested pod ports"]
  return { plugin: 'NodePorts', reasons, isResolvable: true }
}

function resources(info: PodInfo, node: NodeInfo): Refusal | undefined {
  const shortages = resourceShortages(info, node)
  if (shortages.length === 0) return undefined
  const reasons = shortages.map(({ name }) => (name === 'pods' ? 'Too many pods' : `Insufficient ${name}`))
  const isResolvable = shortages.every(({ name, requested, capacity }) => name === 'pods' || requested <= capacity)
  return { plugin: 'NodeResourcesFit', reasons, isResolvable }
}

/** A resource that a node lacks. CPU counts in millicores. */
export interface ResourceShortage {
  readonly name: string
  readonly requested: number
  readonly used: number
  readonly capacity: number
}

/** Returns the resources that a node lacks for a pod. */
export function resourceShortages({ requests }: PodInfo, { pods, allocatable, requested: total }: NodeInfo): ResourceShortage[] {
  const shortages: ResourceShortage[] = []
  const allowedPods = allocatable.get('pods') ?? 0
  if (pods.size + 1 > allowedPods) shortages.push({ name: 'pods', requested: 1, used: pods.size, capacity: allowedPods })
  for (const name of resourceOrder(requests)) {
    const requested = requests.get(name) ?? 0
    const capacity = allocatable.get(name) ?? 0
    const used = total.get(name) ?? 0
    if (requested > 0 && requested > capacity - used) shortages.push({ name, requested, used, capacity })
  }
  return shortages
}

const firstResources = ['cpu', 'memory', 'ephemeral-storage']

function resourceOrder(requests: ReadonlyMap<string, number>): readonly string[] {
  return [...firstResources, ...[...requests.keys()].filter((name) => !firstResources.includes(name)).sort()]
}
