import { escapeLabelValue } from './prometheus-text.ts'

/** Counts the results of health checks. */
export class HealthMetrics {
  /** By type and name, in the order of first use. */
  readonly #checks = new Map<string, CheckSeries>()

  /** @param type endpoint of the check: `healthz`, `livez` or `readyz`. */
  observe(type: string, name: string, isHealthy: boolean): void {
    const key = `${type}/${name}`
    let series = this.#checks.get(key)
    if (series === undefined) {
      series = { labels: `name="${escapeLabelValue(name)}"`, type, successes: 0, failures: 0, isHealthy }
      this.#checks.set(key, series)
    }
    series.isHealthy = isHealthy
    if (isHealthy) series.successes++
    else series.failures++
  }

  /** The text of `/metrics/slis`, with the metric names of kube-apiserver. */
  text(): string {
    const all = [...this.#checks.values()]
    const totals = all.flatMap(({ labels, type, successes, failures }) => [
      ...(failures === 0 ? [] : [`kubernetes_healthchecks_total{${labels},status="error",type="${type}"} ${failures}`]),
      ...(successes === 0 ? [] : [`kubernetes_healthchecks_total{${labels},status="success",type="${type}"} ${successes}`]),
    ])
    return [
      '# HELP kubernetes_healthcheck Last result of each health check: 1 for success.',
      '# TYPE kubernetes_healthcheck gauge',
      ...all.map(({ labels, type, isHealthy }) => `kubernetes_healthcheck{${labels},type="${type}"} ${isHealthy ? 1 : 0}`),
      '# HELP kubernetes_healthchecks_total Number of results of each health check, by status.',
      '# TYPE kubernetes_healthchecks_total counter',
      ...totals,
      '',
    ].join('\n')
  }
}

interface CheckSeries {
  readonly labels: string
  readonly type: string
  successes: number
  failures: number
  isHealthy: boolean
}
