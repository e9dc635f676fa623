import { NodeInfo, type PodInfo } from './node-info.ts'
import type { ReadonlyNode } from './objects.ts'

/** The nodes and their pods at one moment. */
export interface ClusterView {
  readonly nodes: ReadonlyMap<string, NodeInfo>
  /** Returns the pods nominated to a node: they wait until their victims have left. */
  nominatedTo(node: string): Iterable<PodInfo>
}

/** The nodes and their pods, including pods that were just bound, kept up to date by events. */
export class ClusterState implements ClusterView {
  readonly nodes = new Map<string, NodeInfo>()
  /** The node of each pod, by uid. */
  readonly #nodeOf = new Map<string, string>()
  /** Pods whose node is unknown, by node name. */
  readonly #homeless = new Map<string, Map<string, PodInfo>>()
  readonly #nominated = new Map<string, Map<string, PodInfo>>()
  readonly #nominatedNodeOf = new Map<string, string>()

  setNode(node: ReadonlyNode): void {
    const name = node.metadata.name ?? ''
    const pods = this.nodes.get(name)?.pods ?? this.#homeless.get(name)
    this.#homeless.delete(name)
    this.nodes.set(name, new NodeInfo(node, pods?.values()))
  }

  removeNode(name: string): void {
    const info = this.nodes.get(name)
    if (info !== undefined && info.pods.size > 0) this.#homeless.set(name, new Map(info.pods))
    this.nodes.delete(name)
  }

  /** Assigns a pod to a node, or replaces its information. */
  setPod(info: PodInfo, node: string): void {
    if (this.#nodeOf.get(info.uid) !== node) this.removePod(info.uid)
    this.#nodeOf.set(info.uid, node)
    const found = this.nodes.get(node)
    if (found !== undefined) {
      found.add(info)
      return
    }
    const pods = this.#homeless.get(node) ?? new Map<string, PodInfo>()
    this.#homeless.set(node, pods.set(info.uid, info))
  }

  removePod(uid: string): void {
    const node = this.#nodeOf.get(uid)
    if (node === undefined) return
    this.#nodeOf.delete(uid)
    this.nodes.get(node)?.remove(uid)
    this.#homeless.get(node)?.delete(uid)
  }

  nodeOf(uid: string): string | undefined {
    return this.#nodeOf.get(uid)
  }

  nominate(info: PodInfo, node: string): void {
    this.denominate(info.uid)
    this.#nominatedNodeOf.set(info.uid, node)
    const pods = this.#nominated.get(node) ?? new Map<string, PodInfo>()
    this.#nominated.set(node, pods.set(info.uid, info))
  }

  denominate(uid: string): void {
    const node = this.#nominatedNodeOf.get(uid)
    if (node === undefined) return
    this.#nominatedNodeOf.delete(uid)
    this.#nominated.get(node)?.delete(uid)
  }

  nominatedTo(node: string): Iterable<PodInfo> {
    return this.#nominated.get(node)?.values() ?? []
  }
}

/** Returns a view in which one node is replaced. */
export function withNode(view: ClusterView, info: NodeInfo): ClusterView {
  const nodes = new Map(view.nodes)
  nodes.set(info.name, info)
  return { nodes, nominatedTo: (node) => view.nominatedTo(node) }
}
