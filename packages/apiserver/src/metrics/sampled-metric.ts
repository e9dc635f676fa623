import type { Histogram } from '../flow-control/histogram.ts'

export interface Sample {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

/** A metric of the registry whose values are computed when they are read. */
export interface SampledMetric {
  readonly name: string
  readonly help: string
  readonly type: 'gauge' | 'counter' | 'histogram'
  readonly aggregator: 'sum'
  get(): Promise<SampledMetric & { readonly values: readonly Sample[] }>
}

export function sampledMetric(
  type: SampledMetric['type'],
  [name, help]: readonly [string, string],
  samples: () => Iterable<Sample>,
): SampledMetric {
  const sampled: SampledMetric = {
    ...{ name, help, type, aggregator: 'sum' },
    get: async () => ({ ...sampled, values: [...samples()] }),
  }
  return sampled
}

/** The samples of one series of a histogram named `name`. */
export function histogramSamples(
  name: string,
  labels: Sample['labels'],
  { bounds: upper, counts, total, sum }: Histogram,
): Sample[] {
  let below = 0
  const buckets = upper.map((le, i) => {
    below += counts[i] as number
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: below }
  })
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: total },
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ]
}
