import {
  Counter,
  type CounterConfiguration,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  type Metric,
  Registry,
} from 'prom-client'
import type { SampledMetric } from './sampled-metric.ts'

/** The metrics of one server: creates and registers them, and renders their text. */
export class Instruments {
  readonly #registry = new Registry()

  counter<T extends string>(configuration: CounterConfiguration<T>): Counter<T> {
    return new Counter({ ...configuration, registers: [this.#registry] })
  }

  gauge<T extends string>(configuration: GaugeConfiguration<T>): Gauge<T> {
    return new Gauge({ ...configuration, registers: [this.#registry] })
  }

  histogram<T extends string>(configuration: HistogramConfiguration<T>): Histogram<T> {
    return new Histogram({ ...configuration, registers: [this.#registry] })
  }

  /** Adds a metric whose values are computed when they are read. */
  register(metric: SampledMetric): void {
    this.#registry.registerMetric(metric as unknown as Metric)
  }

  get contentType(): string {
    return this.#registry.contentType
  }

  /** All metrics in the Prometheus text format. */
  text(): Promise<string> {
    return this.#registry.metrics()
  }
}
