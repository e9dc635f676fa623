import { Quantity } from '@krmkit/meta'
import { type Amounts, addTo, amountsOf } from '../resource-amounts.ts'

/** Arithmetic of quota usage, by resource name. */

export type Usage = Amounts

export const one = Quantity.of(1)

/**
 * Parses a resource list such as `status.used`.
 *
 * @throws when a quantity does not parse.
 * @see {@link addUsage} for an example.
 */
export function parseUsage(list: Readonly<Record<string, unknown>> | undefined): Map<string, Quantity> {
  return amountsOf(list)
}

/**
 * Formats a resource list as stored, sorted by name.
 *
 * @see {@link addUsage} for an example.
 */
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

/**
 * Adds two usages, resource by resource.
 *
 * @example
 * ```ts
 * import { addUsage, formatUsage, parseUsage, subtractUsage } from '@krmkit/admission/quota'
 *
 * const used = parseUsage({ pods: '2', cpu: '500m' })
 * formatUsage(addUsage(used, parseUsage({ cpu: '1' }))) // { cpu: '1500m', pods: '2' }
 * formatUsage(subtractUsage(used, parseUsage({ cpu: '1' }))) // { cpu: '-500m', pods: '2' }
 * ```
 */
export function addUsage(a: Usage, b: Usage): Map<string, Quantity> {
  const sum = new Map(a)
  addTo(sum, b)
  return sum
}

/**
 * `a - b`; a resource that is missing in `a` counts as zero.
 *
 * @see {@link addUsage} for an example.
 */
export function subtractUsage(a: Usage, b: Usage): Map<string, Quantity> {
  const difference = new Map(a)
  for (const [name, amount] of b) {
    const before = difference.get(name)
    difference.set(name, before === undefined ? amount.neg() : before.sub(amount))
  }
  return difference
}

/**
 * Keeps the named resources.
 *
 * @example
 * ```ts
 * import { formatUsage, maskUsage, parseUsage } from '@krmkit/admission/quota'
 *
 * formatUsage(maskUsage(parseUsage({ pods: '2', cpu: '500m' }), new Set(['cpu']))) // { cpu: '500m' }
 * ```
 */
export function maskUsage(usage: Usage, names: { has(name: string): boolean }): Map<string, Quantity> {
  return new Map([...usage].filter(([name]) => names.has(name)))
}

export function withoutZeros(usage: Usage): Map<string, Quantity> {
  return new Map([...usage].filter(([, amount]) => !amount.isZero()))
}

/** Keeps the resources with more than nothing. */
export function increases(usage: Usage): Map<string, Quantity> {
  return new Map([...usage].filter(([, amount]) => amount.sign() > 0))
}

/**
 * Whether two usages have the same resources with equal quantities.
 *
 * @example
 * ```ts
 * import { equalUsage, parseUsage } from '@krmkit/admission/quota'
 *
 * equalUsage(parseUsage({ cpu: '500m' }), parseUsage({ cpu: '0.5' })) // true
 * ```
 */
export function equalUsage(a: Usage, b: Usage): boolean {
  return a.size === b.size && [...a].every(([name, amount]) => b.get(name)?.equals(amount) === true)
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}
