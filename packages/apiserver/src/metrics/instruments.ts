import { Histogram as Buckets } from './histogram.ts'
import { bucketLabels, familyHead, type Labels, labelsText, seriesLine } from './prometheus-text.ts'
import { histogramSamples, type Sample, type SampledMetric, sampledMetric } from './sampled-metric.ts'

/** Name, help text and labels of a metric. */
export interface InstrumentOptions {
  readonly name: string
  readonly help: string
  readonly labelNames?: readonly string[]
}

/** The metrics of one server: creates and registers them, and renders their text. */
export class Instruments {
  readonly #metrics = new Map<string, SampledMetric>()

  counter(options: InstrumentOptions): Counter {
    const counter = new Counter(options)
    this.register(sampledMetric('counter', [options.name, options.help], () => counter.samples()))
    return counter
  }

  /** @param options `collect` sets the values when they are read. */
  gauge(options: InstrumentOptions & { readonly collect?: (gauge: Gauge) => void }): Gauge {
    const gauge = new Gauge(options)
    this.register(
      sampledMetric('gauge', [options.name, options.help], () => {
        options.collect?.(gauge)
        return gauge.samples()
      }),
    )
    return gauge
  }

  /** @param options `buckets` are the upper bounds, ascending. */
  histogram(options: InstrumentOptions & { readonly buckets: readonly number[] }): Histogram {
    const histogram = new Histogram(options)
    this.register(sampledMetric('histogram', [options.name, options.help], () => histogram.samples()))
    return histogram
  }

  /**
   * Adds a metric whose values are computed when they are read.
   *
   * @throws Error for a name that is in use
   */
  register(metric: SampledMetric): void {
    if (this.#metrics.has(metric.name)) throw new Error(`a metric named ${metric.name} is registered already`)
    this.#metrics.set(metric.name, metric)
  }

  /** All metrics in the Prometheus text format, line by line. */
  *texts(): Generator<string, void> {
    for (const metric of this.#metrics.values()) {
      yield familyHead(metric, metric.type)
      let last: Labels | undefined
      let text = ''
      for (const { name = metric.name, labels, le, value } of metric.samples()) {
        if (labels !== last) text = labelsText(labels)
        last = labels
        yield seriesLine(name, le === undefined ? text : bucketLabels(text, le), value)
      }
    }
  }
}

/** The series of a metric by the values of their labels. Labels that a caller leaves out are absent from the series. */
class SeriesMap<Value> {
  readonly #labelNames: readonly string[]
  readonly #make: () => Value
  readonly #series = new Map<string, { readonly labels: Labels; value: Value }>()

  /** A metric without labels has its series from the start. */
  constructor(labelNames: readonly string[] = [], make: () => Value) {
    this.#labelNames = labelNames
    this.#make = make
    if (labelNames.length === 0) this.at({})
  }

  at(labels: Labels): { value: Value } {
    const key = this.#keyOf(labels)
    let series = this.#series.get(key)
    if (series === undefined) {
      const unknown = Object.keys(labels).find((name) => !this.#labelNames.includes(name))
      if (unknown !== undefined) throw new Error(`the metric has no label ${unknown}`)
      series = { labels: { ...labels }, value: this.#make() }
      this.#series.set(key, series)
    }
    return series
  }

  delete(labels: Labels): void {
    this.#series.delete(this.#keyOf(labels))
  }

  values(): Iterable<{ readonly labels: Labels; readonly value: Value }> {
    return this.#series.values()
  }

  #keyOf(labels: Labels): string {
    let key = ''
    // Label values may contain any character; lengths keep their keys apart.
    for (const name of this.#labelNames) {
      const value = labels[name]
      key += value === undefined ? '-' : `${String(value).length}:${value}`
    }
    return key
  }
}

/** A number that only grows. */
export class Counter {
  readonly #series: SeriesMap<number>

  constructor({ labelNames }: InstrumentOptions) {
    this.#series = new SeriesMap(labelNames, () => 0)
  }

  inc(labels: Labels = {}, by = 1): void {
    this.#series.at(labels).value += by
  }

  /** The series of these labels, for callers that increment it often. */
  labels(labels: Labels): { inc(): void } {
    const series = this.#series.at(labels)
    return { inc: () => void series.value++ }
  }

  samples(): Iterable<Sample> {
    return this.#series.values()
  }
}

/** A number that is set. */
export class Gauge {
  readonly #series: SeriesMap<number>

  constructor({ labelNames }: InstrumentOptions) {
    this.#series = new SeriesMap(labelNames, () => 0)
  }

  set(labels: Labels, value: number): void {
    this.#series.at(labels).value = value
  }

  remove(labels: Labels): void {
    this.#series.delete(labels)
  }

  samples(): Iterable<Sample> {
    return this.#series.values()
  }
}

/** A distribution over buckets. */
export class Histogram {
  readonly #name: string
  readonly #series: SeriesMap<Buckets>

  constructor({ name, labelNames, buckets }: InstrumentOptions & { readonly buckets: readonly number[] }) {
    this.#name = name
    this.#series = new SeriesMap(labelNames, () => new Buckets(buckets))
  }

  observe(labels: Labels, value: number): void {
    this.#series.at(labels).value.observe(value)
  }

  *samples(): Generator<Sample, void> {
    for (const { labels, value } of this.#series.values()) yield* histogramSamples(this.#name, labels, value)
  }
}
