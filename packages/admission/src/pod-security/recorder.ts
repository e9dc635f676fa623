import type { AdmissionAttributes, AdmissionContext } from '../interfaces.ts'
import type { PodSecurityLabels, PodSecurityMetrics } from '../metrics.ts'
import type { LevelVersion, Mode } from './levels.ts'

/** The metrics of one request. */
export class PodSecurityRecorder {
  readonly #metrics: PodSecurityMetrics | undefined
  readonly #labels: PodSecurityLabels

  readonly #newest: number

  /** @param newest the newest version of the standards */
  constructor({ operation, resource, subresource }: AdmissionAttributes, { metrics }: AdmissionContext, newest: number) {
    this.#newest = newest
    this.#metrics = metrics?.podSecurity
    const isPod = resource.group === '' && resource.resource === 'pods'
    const labels = { operation: operation === 'CREATE' ? 'create' : 'update', resource: isPod ? 'pod' : 'controller' } as const
    this.#labels = { ...labels, subresource }
  }

  evaluated(mode: Mode, { level, minor }: LevelVersion, isDenied: boolean): void {
    const version = level === 'privileged' || minor === Infinity ? 'latest' : minor > this.#newest ? 'future' : `v1.${minor}`
    this.#metrics?.evaluated({ ...this.#labels, decision: isDenied ? 'deny' : 'allow', mode, level, version })
  }

  exempted(): void {
    this.#metrics?.exempted(this.#labels)
  }

  failed({ fatal }: { readonly fatal: boolean }): void {
    this.#metrics?.failed(this.#labels, fatal)
  }
}
