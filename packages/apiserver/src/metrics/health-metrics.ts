/** How often health was asked for, check by check, and what came of it; @see {@link HealthMetrics.text} */
export class HealthMetrics {
  /** By type and name, in the order of the first look. */
  readonly #checks = new Map<string, CheckSeries>()

  /** @param type where it was asked for: `healthz`, `livez` or `readyz`. */
  observe(type: string, name: string, isWell: boolean): void {
    const key = `${type}/${name}`
    let tally = this.#checks.get(key)
    if (tally === undefined) {
      tally = { labels: `name="${escaped(name)}"`, type, successes: 0, failures: 0, isHealthy: isWell }
      this.#checks.set(key, tally)
    }
    tally.isHealthy = isWell
    if (isWell) tally.successes++
    else tally.failures++
  }

  /** Text for those who watch over service levels, under the names that stock servers use. */
  text(): string {
    const all = [...this.#checks.values()]
    const totals = all.flatMap(({ labels, type, successes: well, failures: ill }) => [
      ...(ill === 0 ? [] : [`kubernetes_healthchecks_total{${labels},status="error",type="${type}"} ${ill}`]),
      ...(well === 0 ? [] : [`kubernetes_healthchecks_total{${labels},status="success",type="${type}"} ${well}`]),
    ])
    return [
      '# HELP kubernetes_healthcheck What each health check found when it was last asked for: 1 for well.',
      '# TYPE kubernetes_healthcheck gauge',
      ...all.map(({ labels, type, isHealthy: isWell }) => `kubernetes_healthcheck{${labels},type="${type}"} ${isWell ? 1 : 0}`),
      '# HELP kubernetes_healthchecks_total How often each health check was asked for, by what it found.',
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

function escaped(text: string): string {
  return text.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
}
