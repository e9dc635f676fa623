import type { NamingProfile } from '@krmkit/meta'
import type { NodeInfo, PodInfo } from './node-info.ts'

/** Why a node does not take a pod. */
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

/** The claims of one pod: which nodes reach them, and what binds those that wait for their first consumer. */
export interface PodVolumes {
  /** Why no node can take the pod; undefined when its claims are usable. */
  readonly problem: string | undefined
  refusal(info: PodInfo, node: NodeInfo): Refusal | undefined
}
