/** The metrics that horizontal pod autoscalers ask for. */

type Awaitable<T> = T | Promise<T>

/** The pods or metrics that a query selects, as in a label selector. Empty: all. */
export interface MetricQuery {
  readonly namespace: string
  readonly name: string
  readonly labelSelector: string
}

/** A quantity by pod name: `{ 'web-1': '250m' }`. Pods without a sample are missing. */
export type PodQuantities = Readonly<Record<string, string>>

/** Answers the queries of autoscalers. Absent functions mean that there are no such metrics. Errors appear in the conditions. */
export interface MetricsProvider {
  /** Usage of a resource, such as `cpu`, by pods; with `container`, by that container alone. */
  resource?(query: MetricQuery & { readonly container?: string }): Awaitable<PodQuantities>
  /** A metric of pods. `labelSelector` selects the pods, `metricSelector` the metric. */
  pods?(query: MetricQuery & { readonly metricSelector: string }): Awaitable<PodQuantities>
  /** A metric of one object. */
  object?(query: MetricQuery & { readonly object: Readonly<ObjectTarget> }): Awaitable<string>
  /** The values of a metric outside of the cluster. */
  external?(query: MetricQuery): Awaitable<readonly string[]>
}

/** The object that an autoscaler scales, or that a metric describes. */
export interface ObjectTarget {
  apiVersion?: string
  kind: string
  name: string
}
