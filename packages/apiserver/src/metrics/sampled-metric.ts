import type { DurationCounts } from '@krmkit/storage'
import type { Labels } from './prometheus-text.ts'

/** One line of a metric. */
export interface Sample {
  /** Set for the parts of a histogram, whose names differ from that of the metric. */
  readonly name?: string
  readonly labels: Labels
  /** Upper bound of a bucket: the label `le`, which follows the others. */
  readonly le?: number | string
  readonly value: number
}

/** A metric whose values are computed when they are read. */
export interface SampledMetric {
  readonly name: string
  readonly help: string
  readonly type: 'gauge' | 'counter' | 'histogram'
  samples(): Iterable<Sample>
}

export function sampledMetric(
  type: SampledMetric['type'],
  [name, help]: readonly [string, string],
  samples: () => Iterable<Sample>,
): SampledMetric {
  return { name, help, type, samples }
}

/** The samples of one series of a histogram named `name`. They share `labels`, so that its text is rendered once. */
export function histogramSamples(name: string, labels: Labels, { bounds: upper, counts, total, sum }: DurationCounts): Sample[] {
  let below = 0
  const buckets = upper.map((le, i) => {
    below += counts[i] as number
    return { name: `${name}_bucket`, labels, le, value: below }
  })
  return [
    ...buckets,
    { name: `${name}_bucket`, labels, le: '+Inf', value: total },
    { name: `${name}_sum`, labels, value: sum },
    { name: `${name}_count`, labels, value: total },
  ]
}
