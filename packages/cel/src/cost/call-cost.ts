import { utf8Length } from '@krmkit/meta/go-text'
import { measured, minSize } from '../values/equality.ts'
import type { Meter } from '../values/meter.ts'
import { NamedFormat } from '../values/named-format.ts'
import { itemsOf, ListValue, MapValue, OpaqueValue, type Value } from '../values/values.ts'

/** Runtime cost of calls, as on kube-apiserver. */
export type CostRule =
  | number
  | {
      of(args: readonly Value[], result: Value, meter: Meter): number
      /** Whether the cost depends on the result. */
      readonly byResult?: boolean
    }

/** Cost of reading one character. */
export const perCharacter = 0.1
/** Cost per character of a regular expression. */
export const perPatternCharacter = 0.25
/** Cost of an authorizer check. */
export const authorizationCost = 350_000
/** Size of the largest regular expression of a named format. */
export const formatPatternSize = 128

type Size = (args: readonly Value[], meter: Meter) => number

const size =
  (index: number): Size =>
  (args, meter) =>
    measured(args[index] as Value, meter)

const read = (index: number, times = 1): CostRule => ({
  of: (args, _, meter) => Math.ceil(measured(args[index] as Value, meter) * times * perCharacter),
})

/** Cost of matching a text of `textSize` with a pattern of `patternSize`. */
export function matchCost(textSize: number, patternSize: number): number {
  return Math.ceil((1 + textSize) * perCharacter) * Math.ceil(patternSize * perPatternCharacter)
}

const match: CostRule = { of: (args, _, meter) => matchCost(size(0)(args, meter), size(1)(args, meter)) }

const smaller: CostRule = {
  of: ([a, b], _, meter) => Math.ceil(minSize(a as Value, b as Value, meter) * perCharacter),
}

/** Equality of opaque values costs 1. */
const equality: CostRule = {
  of: ([a, b], _, meter) => (a instanceof OpaqueValue ? 1 : Math.ceil(minSize(a as Value, b as Value, meter) * perCharacter)),
}

const everything: CostRule = { of: ([value], _, meter) => traversal(value as Value, meter) }

/** Cost of visiting everything in a value. */
function traversal(value: Value, meter: Meter): number {
  meter.chargeWork(1)
  if (typeof value === 'string') return Math.floor(utf8Length(value) * perCharacter)
  if (value instanceof Uint8Array) return Math.floor(value.length * perCharacter)
  let cost = 0
  if (value instanceof ListValue) {
    for (const item of itemsOf(value)) cost += traversal(item, meter)
    return cost
  }
  if (value instanceof MapValue) {
    for (const key of value.keys()) cost += traversal(key, meter) + traversal(value.get(key) ?? null, meter)
    return cost
  }
  return 1
}

/** Cost of a selector, estimated as one requirement per two characters. */
export function selectorCost(length: number): number {
  return 10 + Math.ceil(length * perCharacter) + Math.ceil(Math.ceil(length * 0.5) * 50)
}

/** Cost of comparing an address, of at most 16 bytes, with a range. */
function rangeCost(own: number, text: boolean): CostRule {
  return {
    of: (args, _, meter) => {
      const range = size(0)(args, meter)
      const whole = Math.ceil((range + range) * perCharacter) + own * (Math.ceil(range * perCharacter) + 1)
      return whole + (text ? Math.ceil(size(1)(args, meter) * perCharacter) : 0)
    },
  }
}

const products = (factor: number): CostRule => ({
  of: (args, _, meter) => 1 + Math.floor(size(0)(args, meter) * size(1)(args, meter) * factor),
})

const byName: Readonly<Record<string, CostRule>> = {
  check: authorizationCost,
  fieldSelector: { of: (args, _, meter) => selectorCost(size(1)(args, meter)) },
  labelSelector: { of: (args, _, meter) => selectorCost(size(1)(args, meter)) },
  isSorted: everything,
  sum: everything,
  max: everything,
  min: everything,
  indexOf: everything,
  lastIndexOf: everything,
  url: read(0),
  'jsonpatch.escapeKey': read(0),
  lowerAscii: read(0),
  upperAscii: read(0),
  substring: read(0),
  trim: read(0),
  replace: read(0, 2),
  split: read(0, 2),
  join: { byResult: true, of: (_, result, meter) => Math.ceil(measured(result, meter) * 2 * perCharacter) },
  find: match,
  findAll: match,
  cidr: read(0),
  isIP: read(0),
  isCIDR: read(0),
  ip: read(0),
  'ip.isCanonical': read(0, 2),
  quantity: read(0),
  isQuantity: read(0),
  semver: read(0),
  isSemver: read(0),
  validate: {
    of: ([format, text], _, meter) =>
      format instanceof NamedFormat ? matchCost(measured(text as Value, meter), format.patternSize) : 1,
  },
  containsIP: rangeCost(0, false),
  containsCIDR: rangeCost(1, false),
  'sets.contains': products(1),
  'sets.intersects': products(1),
  'sets.equivalent': products(2),
  '_==_': equality,
}

const byOverload: Readonly<Record<string, CostRule>> = {
  cidr_ip: 1,
  cidr_contains_ip_string: rangeCost(0, true),
  cidr_contains_cidr_string: rangeCost(1, true),
  starts_with_string: read(0),
  ends_with_string: read(0),
  string_to_bytes: read(0),
  bytes_to_string: read(0),
  in_list: { of: (args, _, meter) => size(1)(args, meter) },
  not_equals: smaller,
  add_string: { of: (args, _, meter) => Math.ceil((size(0)(args, meter) + size(1)(args, meter)) * perCharacter) },
  add_bytes: { of: (args, _, meter) => Math.ceil((size(0)(args, meter) + size(1)(args, meter)) * perCharacter) },
  matches_string: match,
  contains_string: {
    of: (args, _, meter) => Math.ceil(size(0)(args, meter) * perCharacter) * Math.ceil(size(1)(args, meter) * perCharacter),
  },
  string_format: read(0),
  strings_quote: read(0),
}

const ordered = /^(less|less_equals|greater|greater_equals)_(string|bytes)$/

/** @param overload id of the overload; empty when it is chosen at run time. */
export function callCost(name: string, overload: string): CostRule {
  if (Object.hasOwn(byOverload, overload)) return byOverload[overload] as CostRule
  if (Object.hasOwn(byName, name)) return byName[name] as CostRule
  return ordered.test(overload) ? smaller : 1
}
