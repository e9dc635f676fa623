import { Quantity } from '@krmkit/meta'
import type { Amounts } from '../resource-amounts.ts'

/** Amounts that quotas count, resource by resource. */

export type Usage = Amounts

export const one = Quantity.of(1)

export function parseUsage(list: Readonly<Record<string, unknown>> | undefined): Map<string, Quantity> {
  const usage = new Map<string, Quantity>()
  for (const name of Object.keys(list ?? {})) usage.set(name, Quantity.parse(String(list?.[name])))
  return usage
}

/** As it is stored, in the order of names. */
export function formatUsage(usage: Usage): Record<string, string> {
  return Object.fromEntries([...usage].sort(byName).map(([name, amount]) => [name, amount.toString()]))
}

/** `cpu=1,pods=2` */
export function printUsage(usage: Usage): string {
  return [...usage]
    .sort(byName)
    .map(([name, amount]) => `${name}=${amount}`)
    .join(',')
}

export function plus(a: Usage, b: Usage): Map<string, Quantity> {
  const sum = new Map(a)
  for (const [name, amount] of b) {
    const before = sum.get(name)
    sum.set(name, before === undefined ? amount : before.add(amount))
  }
  return sum
}

export function minus(a: Usage, b: Usage): Map<string, Quantity> {
  const difference = new Map(a)
  for (const [name, amount] of b) {
    const before = difference.get(name)
    difference.set(name, before === undefined ? amount.neg() : before.sub(amount))
  }
  return difference
}

/** What is named, and nothing else. */
export function only(usage: Usage, names: { has(name: string): boolean }): Map<string, Quantity> {
  return new Map([...usage].filter(([name]) => names.has(name)))
}

export function withoutZeros(usage: Usage): Map<string, Quantity> {
  return new Map([...usage].filter(([, amount]) => !amount.isZero()))
}

export function sameUsage(a: Usage, b: Usage): boolean {
  return a.size === b.size && [...a].every(([name, amount]) => b.get(name)?.equals(amount) === true)
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}
