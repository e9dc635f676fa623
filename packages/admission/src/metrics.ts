import type { PodSecurityMetrics } from './pod-security/metrics.ts'
import type { PolicyMetrics } from './policy/metrics.ts'
import type { WebhookMetrics } from './webhook/metrics.ts'

export interface PhaseLabels {
  readonly type: 'admit' | 'validate'
  /** `CREATE`, `UPDATE`, `DELETE` or `CONNECT`. */
  readonly operation: string
}

export interface PluginLabels extends PhaseLabels {
  /** The name of the plugin. */
  readonly name: string
}

export interface AdmissionOutcome {
  readonly seconds: number
  readonly rejected: boolean
}

/** Records the work of the admission chain. @see API protocol specification, 6 */
export interface AdmissionMetrics {
  /** A plugin has run for a request that it handles. */
  pluginCompleted(labels: PluginLabels, outcome: AdmissionOutcome): void
  /** All plugins of a phase have run, or one has rejected the request. */
  phaseCompleted(labels: PhaseLabels, outcome: AdmissionOutcome): void
  readonly webhooks: WebhookMetrics
  readonly podSecurity: PodSecurityMetrics
  readonly policies: PolicyMetrics
}
