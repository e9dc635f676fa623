/** What is told apart when answered requests are counted. */
export interface RequestLabels {
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly scope: string
  readonly code: number
}

interface Tally {
  readonly labels: RequestLabels
  count: number
  /** Seconds; only of requests that are timed. */
  sum: number
  timed: number
  /** How many took up to this bound and longer than the one before. */
  readonly buckets: number[]
}

/** Names of resources come from paths; clients that make up ever new ones are counted under no name beyond this. */
const maxTallies = 10_000

/** Upper bounds in seconds. */
const bounds = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]

/** A metric of a registry that counts up from zero. */
interface Counter {
  reset(): void
  inc(labels: Record<string, string | number>, by: number): void
}

/** A histogram as a registry of metrics prints it. */
export interface TimesMetric {
  readonly name: string
  readonly help: string
  readonly type: 'histogram'
  readonly aggregator: 'sum'
  get(): Promise<TimesMetric & { readonly values: readonly Sample[] }>
}

interface Sample {
  readonly metricName: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

/**
 * Counts requests and their times while they are answered; the metrics are made of it when somebody reads them.
 *
 * One look-up a request, where metrics kept up to date would cost several, each with its labels put in order anew.
 */
export class RequestTallies {
  readonly #tallies = new Map<string, Tally>()

  /** @param seconds how long it took; absent for what lasts as long as the client likes. */
  add(labels: RequestLabels, seconds: number | undefined): void {
    const { verb, group, version, resource, subresource, scope, code } = labels
    const key = `${code} ${verb} ${scope} ${group} ${version} ${resource} ${subresource}`
    let tally = this.#tallies.get(key)
    if (tally === undefined) {
      const nameless = { ...labels, group: '', version: '', resource: '', subresource: '' }
      if (this.#tallies.size >= maxTallies && resource !== '') {
        this.add(nameless, seconds)
        return
      }
      tally = { labels, count: 0, sum: 0, timed: 0, buckets: new Array<number>(bounds.length).fill(0) }
      this.#tallies.set(key, tally)
    }
    tally.count++
    if (seconds === undefined) return
    tally.sum += seconds
    tally.timed++
    for (let i = 0; i < bounds.length; i++) {
      if (seconds > (bounds[i] as number)) continue
      tally.buckets[i]!++
      break
    }
  }

  /** Brings a counter of requests up to date, which has all labels. */
  count(counter: Counter): void {
    counter.reset()
    for (const { labels, count } of this.#tallies.values()) counter.inc({ ...labels }, count)
  }

  /** Brings a counter of watches up to date. */
  countWatches(counter: Counter): void {
    counter.reset()
    for (const { labels, count } of this.#tallies.values()) {
      const { verb, group, version, resource } = labels
      if (verb === 'WATCH') counter.inc({ group, version, resource }, count)
    }
  }

  /** The times as a metric that a registry of metrics prints like a histogram of its own. */
  histogram(name: string, help: string): TimesMetric {
    const metric: TimesMetric = {
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      get: async () => ({ ...metric, values: this.#samples(name) }),
    }
    return metric
  }

  #samples(name: string): Sample[] {
    const joined = new Map<string, Tally>()
    for (const tally of this.#tallies.values()) {
      if (tally.timed === 0) continue
      const { verb, group, version, resource, scope } = tally.labels
      const key = `${verb} ${scope} ${group} ${version} ${resource}`
      const known = joined.get(key)
      if (known === undefined) joined.set(key, { ...tally, buckets: [...tally.buckets] })
      else {
        known.timed += tally.timed
        known.sum += tally.sum
        for (let i = 0; i < bounds.length; i++) known.buckets[i]! += tally.buckets[i] as number
      }
    }
    return [...joined.values()].flatMap((tally) => samplesOf(name, tally))
  }
}

function samplesOf(name: string, { labels: all, sum, timed, buckets }: Tally): Sample[] {
  const { verb, group, version, resource, scope } = all
  const labels = { verb, group, version, resource, scope }
  let below = 0
  const samples = bounds.map((le, i): Sample => {
    below += buckets[i] as number
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: below }
  })
  return [
    ...samples,
    { metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: timed },
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: timed },
  ]
}
