/** The messages of OTLP that carry metrics. */
import { type HistogramPoint, type MetricFamily, metricUnit, type NumberPoint } from '@krmkit/apiserver/metrics'
import { MessageType } from '@krmkit/base/protobuf'
import {
  attributesOf,
  exportResponse,
  type KeyValue,
  keyValueMessage,
  ownScope,
  resourceMessage,
  scopeMessage,
} from '../otlp/common-messages.ts'
import type { OtlpSignal } from '../otlp/otlp-client.ts'

/** A metric with the time that its values grow from, and the time when they were read, in nanoseconds since the epoch. */
export interface TimedFamily {
  readonly family: MetricFamily
  readonly startTime: number
  readonly time: number
}

interface PointHead {
  readonly startTime: number
  readonly time: number
  readonly attributes: readonly KeyValue[]
}

interface NumberDataPoint extends PointHead {
  readonly value: number
}

interface HistogramDataPoint extends PointHead {
  readonly count: number
  readonly sum: number
  readonly bucketCounts: readonly number[]
  readonly bounds: readonly number[]
}

interface Gauge {
  readonly points: readonly NumberDataPoint[]
}

interface Sum extends Gauge {
  readonly temporality: number
  readonly isMonotonic: boolean
}

interface Histogram {
  readonly points: readonly HistogramDataPoint[]
  readonly temporality: number
}

interface Metric {
  readonly name: string
  readonly description: string
  readonly unit: string
  readonly gauge?: Gauge
  readonly sum?: Sum
  readonly histogram?: Histogram
}

interface ScopeMetrics {
  readonly scope: { readonly name: string }
  readonly metrics: readonly Metric[]
}

interface ResourceMetrics {
  readonly resource: { readonly attributes: readonly KeyValue[] }
  readonly scopeMetrics: readonly ScopeMetrics[]
}

/** An `ExportMetricsServiceRequest`. */
export interface MetricRequest {
  readonly resourceMetrics: readonly ResourceMetrics[]
}

const numberDataPoint = new MessageType<NumberDataPoint>({
  2: ['startTime', 'fixed64'],
  3: ['time', 'fixed64'],
  4: ['value', 'double'],
  7: ['attributes', keyValueMessage, 'repeated'],
})
const histogramDataPoint = new MessageType<HistogramDataPoint>({
  2: ['startTime', 'fixed64'],
  3: ['time', 'fixed64'],
  4: ['count', 'fixed64'],
  5: ['sum', 'double'],
  6: ['bucketCounts', 'fixed64', 'repeated'],
  7: ['bounds', 'double', 'repeated'],
  9: ['attributes', keyValueMessage, 'repeated'],
})
const gauge = new MessageType<Gauge>({ 1: ['points', numberDataPoint, 'repeated'] })
const sum = new MessageType<Sum>({
  1: ['points', numberDataPoint, 'repeated'],
  2: ['temporality', 'int'],
  3: ['isMonotonic', 'bool'],
})
const histogram = new MessageType<Histogram>({ 1: ['points', histogramDataPoint, 'repeated'], 2: ['temporality', 'int'] })
const metric = new MessageType<Metric>({
  1: ['name', 'text'],
  2: ['description', 'text'],
  3: ['unit', 'text'],
  5: ['gauge', gauge],
  7: ['sum', sum],
  9: ['histogram', histogram],
})
const scopeMetrics = new MessageType<ScopeMetrics>({ 1: ['scope', scopeMessage], 2: ['metrics', metric, 'repeated'] })
const resourceMetrics = new MessageType<ResourceMetrics>({
  1: ['resource', resourceMessage],
  2: ['scopeMetrics', scopeMetrics, 'repeated'],
})
const exportRequest = new MessageType<MetricRequest>({
  1: ['resourceMetrics', resourceMetrics, 'repeated'],
})

/** Values grow from the start of the process on. */
const cumulative = 2

export const metricSignal: OtlpSignal<TimedFamily, MetricRequest> = {
  method: {
    path: '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
    request: exportRequest,
    response: exportResponse,
  },
  noun: 'data points',
  requestOf(families, resource) {
    const own = { scope: ownScope, metrics: families.map(metricOf) }
    return { resourceMetrics: [{ resource: { attributes: attributesOf(resource) }, scopeMetrics: [own] }] }
  },
}

function metricOf({ family, startTime, time }: TimedFamily): Metric {
  const { name, help: description } = family
  const head = { name, description, unit: metricUnit(name) }
  const times = { startTime, time }
  if (family.type === 'histogram') {
    return { ...head, histogram: { points: family.points.map((each) => histogramPointOf(each, times)), temporality: cumulative } }
  }
  const points = family.points.map((each) => numberPointOf(each, times))
  return family.type === 'gauge'
    ? { ...head, gauge: { points } }
    : { ...head, sum: { points, temporality: cumulative, isMonotonic: true } }
}

type Times = Pick<PointHead, 'startTime' | 'time'>

function numberPointOf({ labels, value }: NumberPoint, times: Times): NumberDataPoint {
  return { ...times, value, attributes: attributesOf(labels) }
}

function histogramPointOf({ labels, bounds, counts, count, sum: total }: HistogramPoint, times: Times): HistogramDataPoint {
  return { ...times, count, sum: total, bucketCounts: counts, bounds, attributes: attributesOf(labels) }
}
