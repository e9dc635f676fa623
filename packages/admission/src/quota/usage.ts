import { Quantity } from '@krmkit/meta'
import { type Amounts, addTo, amountsOf } from '../resource-amounts.ts'

/** Arithmetic of quota usage, by resource name. */

export type Usage = Amounts

export const one = Quantity.of(1)

/** Parses a resource list such as `status.used`. @throws when a quantity does not parse. */
export function parseUsage(list: Readonly<Record<string, unknown>> | undefined): Map<string, Quantity> {
  return amountsOf(list)
}

/** Formats a resource list as stored, sorted by name. */
export function formatUsage(usage: Usage): Record<string, string> {
  return Object.fromEntries([...usage].sort(byName).map(([name, amount]) => [name, amount.toString()]))
}

/** Formats usage for messages: `cpu=1,pods=2`. */
export function printUsage(usage: Usage): string {
  return [...usage]
    .sort(byName)
    .map(([name, amount]) => `${name}=${amount}`)
    .join(',')
}

export function addUsage(a: Usage, b: Usage): Map<string, Quantity> {
  const sum = new Map(a)
  addTo(sum, b)
  return sum
}

/** `a - b`; a resource that is missing in `a` counts as zero. */
export function subtractUsage(a: Usage, b: Usage): Map<string, Quantity> {
  const difference = new Map(a)
  for (const [name, amount] of b) {
    const before = difference.get(name)
    difference.set(name, before === undefined ? amount.neg() : before.sub(amount))
  }
  return difference
}

/** Keeps the named resources. */
export function maskUsage(usage: Usage, names: { has(name: string): boolean }): Map<string, Quantity> {
  return new Map([...usage].filter(([name]) => names.has(name)))
}

export function withoutZeros(usage: Usage): Map<string, Quantity> {
  return new Map([...usage].filter(([, amount]) => !amount.isZero()))
}

export function equalUsage(a: Usage, b: Usage): boolean {
  return a.size === b.size && [...a].every(([name, amount]) => b.get(name)?.equals(amount) === true)
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}
