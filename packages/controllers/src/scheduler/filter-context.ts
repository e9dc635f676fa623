import type { NamingProfile } from '@krmkit/meta'
import type { NodeInfo, PodInfo } from './node-info.ts'

/** The reason why a node is not feasible for a pod. */
export interface Refusal {
  readonly plugin: string
  readonly reasons: readonly string[]
  /** Whether removing pods from the node could help. */
  readonly isResolvable: boolean
}

export interface FilterContext {
  readonly profile: NamingProfile
  readonly namespaceLabels: (namespace: string) => Readonly<Record<string, string>>
  readonly volumes: PodVolumes
}

/**
 * The claims of one pod: the nodes from which they are reachable, and how claims that wait for their first consumer are
 * bound.
 */
export interface PodVolumes {
  /** Why no node is feasible for the pod; undefined when its claims are usable. */
  readonly problem: string | undefined
  refusal(info: PodInfo, node: NodeInfo): Refusal | undefined
}
