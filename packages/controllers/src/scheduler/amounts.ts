import { type DeepReadonly, Quantity } from '@krmkit/meta'
import type { Container } from '../workloads/objects.ts'
import type { ReadonlyPod } from './objects.ts'

/** Amounts of resources by name, as numbers: millicores of `cpu`, units of all others. */
export type Amounts = Map<string, number>

/** Requests that containers without any count for in scores. */
const assumedRequests: Readonly<Record<string, number>> = { cpu: 100, memory: 200 * 1024 * 1024 }

export function amountsOf(list: Readonly<Record<string, string>> | undefined): Amounts {
  const amounts: Amounts = new Map()
  for (const [name, text] of Object.entries(list ?? {})) {
    const quantity = Quantity.parse(text)
    amounts.set(name, Number(name === 'cpu' ? quantity.milliValue() : quantity.value()))
  }
  return amounts
}

export function addTo(sum: Amounts, more: ReadonlyMap<string, number>, factor: 1 | -1 = 1): void {
  for (const [name, amount] of more) sum.set(name, (sum.get(name) ?? 0) + factor * amount)
}

/**
 * The requests of a pod: the sum over its containers and sidecars, or, where that is larger, those of an init container together with
 * the sidecars that start before it; requests of the pod itself take the place of the sum; the overhead is added.
 */
export function podRequests({ spec }: ReadonlyPod, { assumed = false } = {}): Amounts {
  const sum: Amounts = new Map()
  for (const container of spec?.containers ?? []) addTo(sum, requestsOf(container, assumed))
  const sidecars: Amounts = new Map()
  const peak: Amounts = new Map()
  for (const container of spec?.initContainers ?? []) {
    const requests = requestsOf(container, assumed)
    if (container.restartPolicy === 'Always') {
      addTo(sum, requests)
      addTo(sidecars, requests)
      raiseTo(peak, sidecars)
      continue
    }
    const together = new Map(sidecars)
    addTo(together, requests)
    raiseTo(peak, together)
  }
  raiseTo(sum, peak)
  for (const [name, amount] of amountsOf(spec?.resources?.requests)) sum.set(name, amount)
  addTo(sum, amountsOf(spec?.overhead))
  return sum
}

function requestsOf({ resources }: DeepReadonly<Container>, assumed: boolean): Amounts {
  const requests = amountsOf(resources?.requests)
  if (assumed) {
    for (const [name, amount] of Object.entries(assumedRequests)) if (!requests.has(name)) requests.set(name, amount)
  }
  return requests
}

function raiseTo(largest: Amounts, other: Amounts): void {
  for (const [name, amount] of other) if (amount > (largest.get(name) ?? 0)) largest.set(name, amount)
}
