import type { Client } from '@krmkit/client'
import { type ApiObject, Quantity } from '@krmkit/meta'
import type { ObjectTarget } from './objects.ts'

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

interface PodMetricsList {
  readonly items?: readonly (ApiObject & {
    readonly containers?: readonly { readonly name: string; readonly usage?: Readonly<Record<string, string>> }[]
  })[]
}

/** Reads the usage of resources from `metrics.k8s.io`, where the server has it. */
export function serverMetrics(client: Client, { signal }: { readonly signal: AbortSignal }): MetricsProvider {
  return {
    async resource({ namespace, name, labelSelector, container }) {
      const query = labelSelector === '' ? '' : `?labelSelector=${encodeURIComponent(labelSelector)}`
      const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${encodeURIComponent(namespace)}/pods${query}`
      const response = await client.request({ path, signal })
      if (response.status !== 200) {
        const why = response.status === 404 ? 'the server could not find the requested resource' : `HTTP ${response.status}`
        throw new Error(`${why} (get pods.metrics.k8s.io)`)
      }
      const { items = [] } = (await response.json()) as PodMetricsList
      const found: Record<string, string> = {}
      for (const { metadata, containers = [] } of items) {
        const used = containers.filter((each) => container === undefined || each.name === container)
        const usage = used.map((each) => each.usage?.[name])
        if (used.length === 0 || usage.includes(undefined)) continue
        found[metadata.name ?? ''] = `${sum(usage as string[])}m`
      }
      return found
    },
  }
}

function sum(quantities: readonly string[]): number {
  return quantities.reduce((total, text) => total + milliOf(text), 0)
}

/** Returns a quantity in thousandths, rounded up. @throws MetaError `InvalidQuantity` */
export function milliOf(text: string): number {
  return Number(Quantity.parse(text).milliValue())
}

/** Formats thousandths as a quantity: `1500` is `1500m`, `2000` is `2`. */
export function quantityOf(milli: number): string {
  return String(Quantity.parse(`${Math.round(milli)}m`))
}
