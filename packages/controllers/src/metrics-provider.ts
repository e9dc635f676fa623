/** The metrics that horizontal pod autoscalers read. */

type Awaitable<T> = T | Promise<T>

/** The pods or metrics that a query selects, as in a label selector. Empty: all. */
export interface MetricQuery {
  readonly namespace: string
  readonly name: string
  readonly labelSelector: string
}

/** A quantity by pod name: `{ 'web-1': '250m' }`. Pods without a sample are missing. */
export type PodQuantities = Readonly<Record<string, string>>

/**
 * Provides metrics to autoscalers. A missing function means that metrics of this type are not available. Errors appear in
 * the conditions of the autoscaler.
 */
export interface MetricsProvider {
  /** Returns the usage of a resource, such as `cpu`, by each pod, or only by `container` of each pod if given. */
  resource?(query: MetricQuery & { readonly container?: string }): Awaitable<PodQuantities>
  /** Returns a metric of pods. `labelSelector` selects the pods, `metricSelector` the metric. */
  pods?(query: MetricQuery & { readonly metricSelector: string }): Awaitable<PodQuantities>
  /** Returns a metric of one object. */
  object?(query: MetricQuery & { readonly object: Readonly<ObjectTarget> }): Awaitable<string>
  /** Returns the values of a metric from outside the cluster. */
  external?(query: MetricQuery): Awaitable<readonly string[]>
}

/** The object that an autoscaler scales, or that a metric describes. */
export interface ObjectTarget {
  apiVersion?: string
  kind: string
  name: string
}
