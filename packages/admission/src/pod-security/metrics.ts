import type { Level, Mode } from './levels.ts'

export interface PodSecurityLabels {
  readonly operation: 'create' | 'update'
  readonly resource: 'pod' | 'controller'
  readonly subresource: string
}

export interface PodSecurityEvaluation extends PodSecurityLabels {
  readonly decision: 'allow' | 'deny'
  readonly mode: Mode
  readonly level: Level
  /** `latest`, `v1.24`, or `future` for releases after that of the server. */
  readonly version: string
}

/** Records the evaluations of plugin PodSecurity. */
export interface PodSecurityMetrics {
  evaluated(evaluation: PodSecurityEvaluation): void
  /** The namespace, the user or the runtime class is exempt. */
  exempted(labels: PodSecurityLabels): void
  /** The policy of the namespace is invalid, or nothing could be evaluated (`fatal`). */
  failed(labels: PodSecurityLabels, fatal: boolean): void
}
