import { type DeepReadonly, Quantity } from '@krmkit/meta'
import type { Container, PodSpec } from './pod.ts'

/** Sums of container resources, by resource name. */

export type Amounts = ReadonlyMap<string, Quantity>

export function amountsOf(list: Readonly<Record<string, unknown>> | undefined): Map<string, Quantity> {
  const amounts = new Map<string, Quantity>()
  for (const name of Object.keys(list ?? {})) amounts.set(name, Quantity.parse(String(list?.[name])))
  return amounts
}

export function addTo(sum: Map<string, Quantity>, more: Amounts): void {
  for (const [name, amount] of more) {
    const before = sum.get(name)
    sum.set(name, before === undefined ? amount : before.add(amount))
  }
}

export function raiseAllTo(largest: Map<string, Quantity>, other: Amounts): void {
  for (const [name, amount] of other) raiseTo(largest, name, amount)
}

function raiseTo(largest: Map<string, Quantity>, name: string, amount: Quantity): void {
  const before = largest.get(name)
  if (before === undefined || before.compare(amount) < 0) largest.set(name, amount)
}

/**
 * The effective requests or limits of a pod: the sum over its containers and sidecars, or, where that is larger, the amount of an init
 * container together with the sidecars started before it.
 */
export function podAmounts(spec: DeepReadonly<PodSpec>, of: 'requests' | 'limits'): Map<string, Quantity> {
  const amountsIn = (container: DeepReadonly<Container>) => amountsOf(container.resources?.[of])
  const sum = new Map<string, Quantity>()
  for (const container of spec.containers ?? []) addTo(sum, amountsIn(container))
  const sidecars = new Map<string, Quantity>()
  const initPeak = new Map<string, Quantity>()
  for (const container of spec.initContainers ?? []) {
    const amounts = amountsIn(container)
    const isSidecar = container.restartPolicy === 'Always'
    if (isSidecar) {
      addTo(sum, amounts)
      addTo(sidecars, amounts)
    }
    for (const [name, amount] of amounts) {
      const running = sidecars.get(name)
      raiseTo(initPeak, name, isSidecar || running === undefined ? (running ?? amount) : amount.add(running))
    }
  }
  raiseAllTo(sum, initPeak)
  return sum
}
