import { type DeepReadonly, Quantity } from '@krmkit/meta'
import type { Container, PodSpec, ResourceAmounts } from './pod.ts'

/** Sums of what containers ask for, resource by resource. */

export type Amounts = ReadonlyMap<string, Quantity>
export type AmountsText = DeepReadonly<ResourceAmounts> | undefined

export function amountsOf(text: AmountsText): Map<string, Quantity> {
  const amounts = new Map<string, Quantity>()
  for (const name of Object.keys(text ?? {})) amounts.set(name, Quantity.parse(String(text?.[name])))
  return amounts
}

export function addTo(sum: Map<string, Quantity>, more: Amounts): void {
  for (const [name, amount] of more) {
    const before = sum.get(name)
    sum.set(name, before === undefined ? amount : before.add(amount))
  }
}

export function raiseTo(largest: Map<string, Quantity>, other: Amounts): void {
  for (const [name, amount] of other) raise(largest, name, amount)
}

function raise(largest: Map<string, Quantity>, name: string, amount: Quantity): void {
  const before = largest.get(name)
  if (before === undefined || before.compare(amount) < 0) largest.set(name, amount)
}

/**
 * What a whole pod asks for, or is limited to: its containers together, or more where an init container needs more while it runs
 * beside the sidecars that were started before it.
 */
export function podAmounts(spec: DeepReadonly<PodSpec>, of: 'requests' | 'limits'): Map<string, Quantity> {
  const own = (container: DeepReadonly<Container>) => amountsOf(container.resources?.[of])
  const sum = new Map<string, Quantity>()
  for (const container of spec.containers ?? []) addTo(sum, own(container))
  const sidecars = new Map<string, Quantity>()
  const starting = new Map<string, Quantity>()
  for (const container of spec.initContainers ?? []) {
    const needs = own(container)
    const isSidecar = container.restartPolicy === 'Always'
    if (isSidecar) {
      addTo(sum, needs)
      addTo(sidecars, needs)
    }
    // What this container does not ask for is as much as it was.
    for (const [name, amount] of needs) {
      const beside = sidecars.get(name)
      raise(starting, name, isSidecar || beside === undefined ? (beside ?? amount) : amount.add(beside))
    }
  }
  raiseTo(sum, starting)
  return sum
}
