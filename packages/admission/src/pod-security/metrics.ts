import type { AdmissionAttributes, AdmissionContext } from '../interfaces.ts'
import { newestMinor } from './evaluator.ts'
import type { Level, LevelVersion, Mode } from './levels.ts'

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

/** The metrics of one request. */
export class PodSecurityRecorder {
  readonly #metrics: PodSecurityMetrics | undefined
  readonly #labels: PodSecurityLabels

  constructor({ operation, resource, subresource }: AdmissionAttributes, { metrics }: AdmissionContext) {
    this.#metrics = metrics?.podSecurity
    const isPod = resource.group === '' && resource.resource === 'pods'
    const labels = { operation: operation === 'CREATE' ? 'create' : 'update', resource: isPod ? 'pod' : 'controller' } as const
    this.#labels = { ...labels, subresource }
  }

  evaluated(mode: Mode, { level, minor }: LevelVersion, isDenied: boolean): void {
    const version = level === 'privileged' || minor === Infinity ? 'latest' : minor > newestMinor ? 'future' : `v1.${minor}`
    this.#metrics?.evaluated({ ...this.#labels, decision: isDenied ? 'deny' : 'allow', mode, level, version })
  }

  exempted(): void {
    this.#metrics?.exempted(this.#labels)
  }

  failed({ fatal }: { readonly fatal: boolean }): void {
    this.#metrics?.failed(this.#labels, fatal)
  }
}
