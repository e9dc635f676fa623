import { controllerOf } from '@krmkit/meta/validation'
import { type AffinityTerms, affinityTerms } from './affinity-terms.ts'
import { type Amounts, addTo, amountsOf, podRequests } from './amounts.ts'
import { HostPorts } from './host-ports.ts'
import type { ReadonlyNode, ReadonlyPod } from './objects.ts'

/** A pod with the information that scheduling derives from it. */
export interface PodInfo {
  readonly pod: ReadonlyPod
  /** `namespace/name`. */
  readonly key: string
  readonly uid: string
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
  readonly priority: number
  readonly requests: Amounts
  /** Requests for scores, with assumed values for containers without requests. */
  readonly assumedRequests: Amounts
  readonly ports: HostPorts
  readonly terms: AffinityTerms
}

export function podInfo(pod: ReadonlyPod): PodInfo {
  const { namespace = '', name = '', uid = '', labels = {} } = pod.metadata
  return {
    pod,
    key: `${namespace}/${name}`,
    uid,
    namespace,
    labels,
    priority: pod.spec?.priority ?? 0,
    requests: podRequests(pod),
    assumedRequests: podRequests(pod, { assumed: true }),
    ports: new HostPorts(pod),
    terms: affinityTerms(pod),
  }
}

/** A node, its pods, and the sums over them, which are kept up to date as pods come and go. */
export class NodeInfo {
  readonly name: string
  readonly node: ReadonlyNode
  readonly labels: Readonly<Record<string, string>>
  readonly allocatable: Amounts
  readonly requested: Amounts = new Map()
  readonly assumedRequested: Amounts = new Map()
  readonly pods = new Map<string, PodInfo>()
  /** Pods with required anti-affinity, which keep other pods away. */
  readonly repelling = new Set<PodInfo>()
  /** Pods with any affinity, which scores consider. */
  readonly attracting = new Set<PodInfo>()

  constructor(node: ReadonlyNode, pods: Iterable<PodInfo> = []) {
    this.name = node.metadata.name ?? ''
    this.node = node
    this.labels = node.metadata.labels ?? {}
    this.allocatable = amountsOf(node.status?.allocatable)
    for (const pod of pods) this.add(pod)
  }

  add(info: PodInfo): void {
    this.remove(info.uid)
    this.pods.set(info.uid, info)
    addTo(this.requested, info.requests)
    addTo(this.assumedRequested, info.assumedRequests)
    if (info.terms.requiredAnti.length > 0) this.repelling.add(info)
    if (info.terms.hasAny) this.attracting.add(info)
  }

  remove(uid: string): void {
    const info = this.pods.get(uid)
    if (info === undefined) return
    this.pods.delete(uid)
    addTo(this.requested, info.requests, -1)
    addTo(this.assumedRequested, info.assumedRequests, -1)
    this.repelling.delete(info)
    this.attracting.delete(info)
  }

  /** Returns a copy without some pods, and with others. */
  with({ added = [], removed = new Set() }: { added?: Iterable<PodInfo>; removed?: ReadonlySet<PodInfo> }): NodeInfo {
    const copy = new NodeInfo(this.node)
    for (const info of this.pods.values()) if (!removed.has(info)) copy.add(info)
    for (const info of added) copy.add(info)
    return copy
  }
}

/** Returns the name of the controller of a pod when it has this kind. */
export function controllerName({ metadata }: ReadonlyPod, kind: string): string | undefined {
  const owner = controllerOf(metadata.ownerReferences)
  return owner?.kind === kind ? owner.name : undefined
}
