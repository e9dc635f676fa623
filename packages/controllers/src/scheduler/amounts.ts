import { type DeepReadonly, Quantity } from '@krmkit/meta'
import type { Container } from '../workloads/objects.ts'
import type { ReadonlyPod } from './objects.ts'

/** Amounts of resources by name, as numbers: millicores of `cpu`, units of all others. */
export type Amounts = Map<string, number>

/** Requests that scores assume for containers without requests. */
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
 * Returns the requests of a pod. Per resource: the sum over containers and sidecars, or the maximum over init containers,
 * each with the sidecars that start before it, whichever is larger. Pod-level requests replace this value; the overhead is
 * added.
 */
export function podRequests(pod: ReadonlyPod, { assumed = false } = {}): Amounts {
  const { spec } = pod
  const sum: Amounts = new Map()
  for (const container of spec?.containers ?? []) addTo(sum, requestsOf(container, { pod, assumed }))
  const sidecars: Amounts = new Map()
  const peak: Amounts = new Map()
  for (const container of spec?.initContainers ?? []) {
    const requests = requestsOf(container, { pod, assumed })
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

/**
 * Returns the requests of a container. During a resize: the maximum of requested, allocated and actual resources. Requests
 * of an infeasible resize are ignored.
 */
function requestsOf(
  { name, resources }: DeepReadonly<Container>,
  { pod: { status }, assumed }: { readonly pod: ReadonlyPod; readonly assumed: boolean },
): Amounts {
  const requests = amountsOf(resources?.requests)
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])]
  const current = statuses.find((each) => each.name === name)
  if (current?.resources !== undefined) {
    const isInfeasible = status?.conditions?.some(({ type, reason }) => type === 'PodResizePending' && reason === 'Infeasible')
    if (isInfeasible) requests.clear()
    raiseTo(requests, amountsOf(current.resources.requests))
    raiseTo(requests, amountsOf(current.allocatedResources))
  }
  if (assumed) {
    for (const [resource, amount] of Object.entries(assumedRequests)) if (!requests.has(resource)) requests.set(resource, amount)
  }
  return requests
}

function raiseTo(largest: Amounts, other: Amounts): void {
  for (const [name, amount] of other) if (amount > (largest.get(name) ?? 0)) largest.set(name, amount)
}
