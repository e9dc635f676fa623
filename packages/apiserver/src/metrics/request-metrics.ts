import type { RequestLabels } from './request-labels.ts'

interface Series {
  readonly labels: RequestLabels
  count: number
  /** Seconds; only of requests that are timed. */
  sum: number
  timed: number
  /** How many took up to this bound and longer than the one before. */
  readonly buckets: number[]
}

/**
 * Series at most. Names of resources are those that are served, and definitions of custom resources come and go; beyond this number
 * requests are counted without names.
 */
const maxSeries = 10_000

/** Upper bounds in seconds. */
const bounds = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]

/** Names of a metric family. */
export interface Family {
  readonly name: string
  readonly help: string
}

/**
 * Counts requests and their times while they are answered; the metrics are made of it when they are read.
 *
 * One look-up a request, where metrics kept up to date would cost several, each with its labels put in order anew.
 */
export class RequestMetrics {
  readonly #series = new Map<string, Series>()

  /** Number of series. */
  get size(): number {
    return this.#series.size
  }

  /** @param seconds how long it took; absent for what lasts as long as the client likes. */
  observe(labels: RequestLabels, seconds: number | undefined): void {
    const { code, component, dry_run: dryRun, verb, group, version, resource, subresource, scope } = labels
    const key = `${code} ${verb} ${scope} ${group} ${version} ${resource} ${subresource} ${dryRun} ${component}`
    let tally = this.#series.get(key)
    if (tally === undefined) {
      if (this.#series.size >= maxSeries && resource !== '') {
        this.observe({ ...labels, component: '', group: '', version: '', resource: '', subresource: '' }, seconds)
        return
      }
      tally = { labels, count: 0, sum: 0, timed: 0, buckets: new Array<number>(bounds.length).fill(0) }
      this.#series.set(key, tally)
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

  /**
   * The counter of requests in the text format of metrics, series by series. The generators of this class yield text in pieces of a
   * few kilobytes, so that their caller may pause between them.
   */
  *totals(family: Family): Generator<string, void> {
    yield head(family, 'counter')
    for (const { labels, count } of [...this.#series.values()]) yield `${family.name}{${labelText(labels)}} ${count}\n`
  }

  /** The counter of watches that were started. */
  *watches(family: Family): Generator<string, void> {
    yield head(family, 'counter')
    const counts = new Map<string, number>()
    for (const { labels, count } of [...this.#series.values()]) {
      const { verb, group, version, resource } = labels
      if (verb !== 'WATCH') continue
      const series = seriesText({ group, resource, version })
      counts.set(series, (counts.get(series) ?? 0) + count)
    }
    for (const [series, count] of counts) yield `${family.name}{${series}} ${count}\n`
  }

  /** The histogram of seconds, over all codes. */
  *durations(family: Family): Generator<string, void> {
    yield head(family, 'histogram')
    const joined = new Map<string, Series>()
    for (const tally of [...this.#series.values()]) {
      if (tally.timed === 0) continue
      const { code: _, ...labels } = tally.labels
      const series = seriesText(labels)
      const known = joined.get(series)
      if (known === undefined) joined.set(series, { ...tally, buckets: [...tally.buckets] })
      else {
        known.timed += tally.timed
        known.sum += tally.sum
        for (let i = 0; i < bounds.length; i++) known.buckets[i]! += tally.buckets[i] as number
      }
      yield ''
    }
    for (const [series, tally] of joined) yield histogramText(family.name, series, tally)
  }
}

function head({ name, help }: Family, type: 'counter' | 'histogram'): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
}

function histogramText(name: string, series: string, { sum, timed, buckets }: Series): string {
  let below = 0
  let text = ''
  for (let i = 0; i < bounds.length; i++) {
    below += buckets[i] as number
    text += `${name}_bucket{${series},le="${bounds[i]}"} ${below}\n`
  }
  return `${text}${name}_bucket{${series},le="+Inf"} ${timed}\n${name}_sum{${series}} ${sum}\n${name}_count{${series}} ${timed}\n`
}

function labelText({ code, ...labels }: RequestLabels): string {
  return `code="${code}",${seriesText(labels)}`
}

/** Labels in the order of their names. */
function seriesText(labels: Readonly<Record<string, string>>): string {
  return Object.keys(labels)
    .sort()
    .map((name) => `${name}="${escaped(labels[name] as string)}"`)
    .join(',')
}

function escaped(text: string): string {
  return text.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`))
}
