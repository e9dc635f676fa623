import type { AdmissionMetrics, PhaseLabels } from './metrics.ts'

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
