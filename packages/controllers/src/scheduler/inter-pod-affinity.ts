import { type AffinityTerm, termMatches } from './affinity-terms.ts'
import type { ClusterView } from './cluster-view.ts'
import type { FilterContext, Refusal } from './filter-context.ts'
import type { NodeInfo, PodInfo } from './node-info.ts'

/** Required affinity and anti-affinity between pods. */

export interface PodAffinityState {
  refusal(info: PodInfo, node: NodeInfo): Refusal | undefined
}

const plugin = 'InterPodAffinity'

/** Number of matching pods by `topologyKey=value`. */
class TopologyCounts {
  readonly #counts = new Map<string, number>()

  get size(): number {
    return this.#counts.size
  }

  add(node: NodeInfo, { topologyKey }: AffinityTerm): void {
    const value = node.labels[topologyKey]
    if (value === undefined) return
    const key = `${topologyKey}=${value}`
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }

  has({ labels }: NodeInfo, { topologyKey }: AffinityTerm): boolean {
    const value = labels[topologyKey]
    return value !== undefined && this.#counts.has(`${topologyKey}=${value}`)
  }

  /** Whether any label of a node has a count. */
  hasAny({ labels }: NodeInfo): boolean {
    return this.size > 0 && Object.entries(labels).some(([key, value]) => this.#counts.has(`${key}=${value}`))
  }
}

export function createPodAffinity(
  info: PodInfo,
  view: ClusterView,
  { namespaceLabels }: Pick<FilterContext, 'namespaceLabels'>,
): PodAffinityState {
  const { required, requiredAnti } = info.terms
  const repelled = new TopologyCounts()
  const attracted = new TopologyCounts()
  const avoided = new TopologyCounts()
  const matches = (term: AffinityTerm, other: PodInfo) => termMatches(term, other, namespaceLabels)
  for (const node of view.nodes.values()) {
    for (const other of node.repelling) {
      for (const term of other.terms.requiredAnti) if (matches(term, info)) repelled.add(node, term)
    }
    if (required.length + requiredAnti.length === 0) continue
    for (const other of node.pods.values()) {
      // A pod counts for affinity only if it matches all terms.
      if (required.length > 0 && required.every((term) => matches(term, other)))
        for (const term of required) attracted.add(node, term)
      for (const term of requiredAnti) if (matches(term, other)) avoided.add(node, term)
    }
  }
  // The first pod of a group with affinity to itself has no other pod to match, and may run anywhere.
  const isFirst = attracted.size === 0 && required.every((term) => matches(term, info))
  return {
    refusal(_, node) {
      const hasLabels = required.every(({ topologyKey }) => node.labels[topologyKey] !== undefined)
      if (!hasLabels || !(isFirst || required.every((term) => attracted.has(node, term))))
        return { plugin, reasons: ["node(s) didn't match pod affinity rules"], isResolvable: false }
      if (requiredAnti.some((term) => avoided.has(node, term)))
        return { plugin, reasons: ["node(s) didn't match pod anti-affinity rules"], isResolvable: true }
      if (repelled.hasAny(node))
        return { plugin, reasons: ["node(s) didn't satisfy existing pods anti-affinity rules"], isResolvable: true }
      return undefined
    },
  }
}
