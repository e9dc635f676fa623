import { bucketLabels, familyHead, labelsText, seriesLine } from './prometheus-text.ts'
import type { RequestLabels } from './request-labels.ts'

interface Series {
  readonly labels: RequestLabels
  /** The labels without the status code, in the Prometheus text format. */
  readonly text: string
  count: number
  /** Seconds of the timed requests. */
  sum: number
  timed: number
  /** Number of timed requests per bucket, not cumulative. */
  readonly buckets: number[]
}

/**
 * Maximum number of series. The set of served names is unbounded over time, because definitions of custom resources are created and
 * deleted. Above the maximum, requests are counted without names.
 */
const maxSeries = 10_000

/** Upper bounds in seconds. */
const bounds = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60]

/** Name and help of a metric family. */
export interface Family {
  readonly name: string
  readonly help: string
}

/**
 * Counts requests and their latencies. Metrics are rendered when they are read.
 *
 * One map lookup per request is cheaper than updating several metrics, each of which sorts its labels. A request whose labels are the same
 * object as those of an earlier request needs no text key.
 */
export class RequestMetrics {
  readonly #series = new Map<string, Series>()
  readonly #byLabels = new WeakMap<RequestLabels, Series>()

  /** Number of series. */
  get size(): number {
    return this.#series.size
  }

  /** @param seconds latency; undefined for watches. */
  observe(labels: RequestLabels, seconds: number | undefined): void {
    let series = this.#byLabels.get(labels)
    if (series === undefined) {
      series = this.#seriesOf(labels)
      this.#byLabels.set(labels, series)
    }
    series.count++
    if (seconds === undefined) return
    series.sum += seconds
    series.timed++
    for (let i = 0; i < bounds.length; i++) {
      if (seconds > (bounds[i] as number)) continue
      series.buckets[i]!++
      break
    }
  }

  #seriesOf(labels: RequestLabels): Series {
    const { code, component, dry_run: dryRun, verb, group, version, resource, subresource, scope } = labels
    const key = `${code} ${verb} ${scope} ${group} ${version} ${resource} ${subresource} ${dryRun} ${component}`
    const known = this.#series.get(key)
    if (known !== undefined) return known
    if (this.#series.size >= maxSeries && resource !== '') {
      return this.#seriesOf({ ...labels, component: '', group: '', version: '', resource: '', subresource: '' })
    }
    const { code: _, ...others } = labels
    const series = {
      labels,
      text: labelsText(others),
      count: 0,
      sum: 0,
      timed: 0,
      buckets: new Array<number>(bounds.length).fill(0),
    }
    this.#series.set(key, series)
    return series
  }

  /**
   * The counter of requests in the Prometheus text format, series by series. The generators of this class yield text of a few
   * lines at a time, so that the caller can work in slices.
   */
  *totals(family: Family): Generator<string, void> {
    yield familyHead(family, 'counter')
    for (const { labels, text, count } of [...this.#series.values()])
      yield seriesLine(family.name, `code="${labels.code}",${text}`, count)
  }

  /** The counter of watches that were started. */
  *watches(family: Family): Generator<string, void> {
    yield familyHead(family, 'counter')
    const counts = new Map<string, number>()
    for (const { labels, count } of [...this.#series.values()]) {
      const { verb, group, version, resource } = labels
      if (verb !== 'WATCH') continue
      const series = labelsText({ group, resource, version })
      counts.set(series, (counts.get(series) ?? 0) + count)
    }
    for (const [series, count] of counts) yield seriesLine(family.name, series, count)
  }

  /** The latency histogram, summed over status codes. */
  *durations(family: Family): Generator<string, void> {
    yield familyHead(family, 'histogram')
    const joined = new Map<string, Series>()
    for (const one of [...this.#series.values()]) {
      if (one.timed === 0) continue
      const sum = joined.get(one.text)
      if (sum === undefined) joined.set(one.text, { ...one, buckets: [...one.buckets] })
      else {
        sum.timed += one.timed
        sum.sum += one.sum
        for (let i = 0; i < bounds.length; i++) sum.buckets[i]! += one.buckets[i] as number
      }
      yield ''
    }
    for (const series of joined.values()) yield histogramText(family.name, series)
  }
}

function histogramText(name: string, { text: series, sum, timed, buckets }: Series): string {
  let below = 0
  let text = ''
  for (let i = 0; i < bounds.length; i++) {
    below += buckets[i] as number
    text += seriesLine(`${name}_bucket`, bucketLabels(series, bounds[i] as number), below)
  }
  text += seriesLine(`${name}_bucket`, bucketLabels(series, '+Inf'), timed)
  return text + seriesLine(`${name}_sum`, series, sum) + seriesLine(`${name}_count`, series, timed)
}
