import { createTurns, Pace, runPaced } from '@krmkit/base/work'
import { type Clock, systemClock } from '@krmkit/meta'
import { type HistogramPoint, type MetricFamily, type NumberPoint, readMetricFamilies } from './metric-families.ts'

/**
 * Metrics for the SDK of OpenTelemetry: the `MetricProducer` of `@opentelemetry/sdk-metrics`, which a reader takes in its option
 * `metricProducers`. The types repeat the needed part of the SDK's types, so that no OpenTelemetry package is needed.
 */

/** Seconds and nanoseconds since the epoch. */
export type HighResolutionTime = [seconds: number, nanoseconds: number]

interface ProducedPoint<Value> {
  readonly startTime: HighResolutionTime
  readonly endTime: HighResolutionTime
  readonly attributes: Record<string, string>
  readonly value: Value
}

interface ProducedHistogram {
  readonly buckets: { boundaries: number[]; counts: number[] }
  readonly sum: number
  readonly count: number
}

interface ProducedHead {
  /** `valueType`: 1, floating point. */
  readonly descriptor: { readonly name: string; readonly description: string; readonly unit: string; readonly valueType: 1 }
  /** 1: values grow from `startTime` on. */
  readonly aggregationTemporality: 1
}

export type ProducedMetric = ProducedHead &
  (
    | { readonly dataPointType: 3; readonly isMonotonic: true; readonly dataPoints: ProducedPoint<number>[] }
    | { readonly dataPointType: 2; readonly dataPoints: ProducedPoint<number>[] }
    | { readonly dataPointType: 0; readonly dataPoints: ProducedPoint<ProducedHistogram>[] }
  )

/** An empty resource, which the reader replaces by its own. */
export interface ProducedResource {
  readonly attributes: Record<string, never>
  merge<Resource extends object>(other: Resource | null): Resource
  getRawAttributes(): []
}

export interface MetricProducer {
  collect(): Promise<{
    readonly resourceMetrics: {
      readonly resource: ProducedResource
      readonly scopeMetrics: { readonly scope: { readonly name: string }; readonly metrics: ProducedMetric[] }[]
    }
    readonly errors: unknown[]
  }>
}

export interface MetricProducerOptions {
  /** Default: the system clock. */
  readonly clock?: Pick<Clock, 'now'>
}

/**
 * The metrics of a server for an OpenTelemetry reader, under the names of `/metrics`.
 *
 * @example
 * import { createApiServer } from '@krmkit/apiserver'
 * import { createMetricProducer } from '@krmkit/apiserver/metrics'
 * import { memoryStorage } from '@krmkit/storage'
 * await using server = await createApiServer({ storage: memoryStorage() })
 * const producer = createMetricProducer(server)
 *  // new PeriodicExportingMetricReader({ exporter, metricProducers: [producer] })
 * const { resourceMetrics } = await producer.collect()
 * resourceMetrics.scopeMetrics[0]?.scope.name // 'krmkit'
 */
export function createMetricProducer(
  server: { metricsText(): Promise<string> },
  { clock = systemClock }: MetricProducerOptions = {},
): MetricProducer {
  const turns = createTurns()
  const startTime = timeOf(clock.now())
  return {
    async collect() {
      const families = await runPaced(readMetricFamilies(await server.metricsText()), new Pace(turns))
      const times = { startTime, endTime: timeOf(clock.now()) }
      const metrics = families.map((family) => producedMetric(family, times))
      return { resourceMetrics: { resource: emptyResource, scopeMetrics: [{ scope: { name: 'krmkit' }, metrics }] }, errors: [] }
    },
  }
}

const emptyResource: ProducedResource = {
  attributes: {},
  merge: <Resource extends object>(other: Resource | null) => other ?? (emptyResource as unknown as Resource),
  getRawAttributes: () => [],
}

type Times = Pick<ProducedPoint<number>, 'startTime' | 'endTime'>

function producedMetric(family: MetricFamily, times: Times): ProducedMetric {
  const { name, help: description, type } = family
  const head = {
    descriptor: { name, description, unit: metricUnit(name), valueType: 1 },
    aggregationTemporality: 1,
  } as const
  if (type === 'histogram')
    return { ...head, dataPointType: 0, dataPoints: family.points.map((each) => producedHistogram(each, times)) }
  const dataPoints = family.points.map((each) => producedNumber(each, times))
  return type === 'counter'
    ? { ...head, dataPointType: 3, isMonotonic: true, dataPoints }
    : { ...head, dataPointType: 2, dataPoints }
}

function producedNumber({ labels, value }: NumberPoint, times: Times): ProducedPoint<number> {
  return { ...times, attributes: { ...labels }, value }
}

function producedHistogram(
  { labels, bounds, counts, sum, count }: HistogramPoint,
  times: Times,
): ProducedPoint<ProducedHistogram> {
  const buckets = { boundaries: [...bounds], counts: [...counts] }
  return { ...times, attributes: { ...labels }, value: { buckets, sum, count } }
}

/**
 * The unit that a metric name ends with, in OpenTelemetry notation; empty for a name without a unit.
 *
 * @example
 * import { metricUnit } from '@krmkit/apiserver/metrics'
 * metricUnit('process_cpu_seconds_total') // 's'
 * metricUnit('process_resident_memory_bytes') // 'By'
 */
export function metricUnit(name: string): string {
  const base = name.replace(/_total$/, '')
  if (base.endsWith('_seconds')) return 's'
  return base.endsWith('_bytes') ? 'By' : ''
}

function timeOf(ms: number): HighResolutionTime {
  const seconds = Math.floor(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
}
