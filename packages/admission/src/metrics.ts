import type { AdmissionTarget } from './interfaces.ts'
import type { WebhookMetrics } from './webhook/metrics.ts'

export interface PhaseLabels {
  readonly type: 'admit' | 'validate'
  readonly operation: AdmissionTarget['operation']
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
}

/** Measures one phase of one request; without metrics it does nothing. */
export class PhaseTimer {
  readonly #metrics: AdmissionMetrics | undefined
  readonly #labels: PhaseLabels
  readonly #startedAt: number
  #pluginStartedAt: number

  constructor(metrics: AdmissionMetrics | undefined, labels: PhaseLabels) {
    this.#metrics = metrics
    this.#labels = labels
    this.#startedAt = metrics === undefined ? 0 : performance.now()
    this.#pluginStartedAt = this.#startedAt
  }

  /** A plugin has run; the next one starts. */
  pluginEnded(name: string, rejected: boolean): void {
    if (this.#metrics === undefined) return
    const now = performance.now()
    const { type, operation } = this.#labels
    this.#metrics.pluginCompleted({ name, type, operation }, { seconds: (now - this.#pluginStartedAt) / 1000, rejected })
    this.#pluginStartedAt = now
  }

  phaseEnded(rejected: boolean): void {
    this.#metrics?.phaseCompleted(this.#labels, { seconds: (performance.now() - this.#startedAt) / 1000, rejected })
  }
}
