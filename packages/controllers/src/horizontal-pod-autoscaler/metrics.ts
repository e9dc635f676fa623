import type { Client } from '@krmkit/client'
import { type ApiObject, Quantity } from '@krmkit/meta'
import type { MetricsProvider } from '../metrics-provider.ts'

interface PodMetricsList {
  readonly items?: readonly (ApiObject & {
    readonly containers?: readonly { readonly name: string; readonly usage?: Readonly<Record<string, string>> }[]
  })[]
}

/** Reads resource usage from `metrics.k8s.io`, if the server serves that API. */
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
