import type { JsonValue } from '@krmkit/meta'
import { compareCodePoints } from '@krmkit/meta/go-text'

/**
 * A total order of JSON values.
 *
 * Types are ordered number, string, boolean, list, map, null. Strings are ordered by code point (the order of their UTF-8 bytes),
 * lists lexicographically, maps lexicographically by sorted key.
 */

/** A JSON value, possibly frozen or absent. */
export type OptionalJsonValue = JsonValue | undefined

/**
 * Orders JSON values: negative when `a` sorts first, zero when both are equal. Values of different types are ordered by type.
 *
 * @example
 * ```ts
 * import { compareValues } from '@krmkit/fieldmanager/value'
 *
 * const values = ['b', 2, 'a', 1.5]
 * values.sort(compareValues) // [1.5, 2, 'a', 'b']
 * ```
 */
export function compareValues(a: JsonValue, b: JsonValue): number {
  const kind = kindOf(a)
  const other = kindOf(b)
  if (kind !== other) return kind - other
  switch (kind) {
    case 0:
      return a === b ? 0 : (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0
    case 1:
      return compareCodePoints(a as string, b as string)
    case 2:
      return a === b ? 0 : a === false ? -1 : 1
    case 3:
      return compareLists(a as JsonValue[], b as JsonValue[])
    case 4:
      return compareMaps(a as { [key: string]: JsonValue }, b as { [key: string]: JsonValue })
    default:
      return 0
  }
}

/** Stable in-place sort. For short lists, insertion sort avoids the allocations of the built-in sort. */
export function sortInPlace<T>(items: T[], compare: (a: T, b: T) => number): T[] {
  if (items.length > fewItems) return items.sort(compare)
  for (let i = 1; i < items.length; i++) {
    const item = items[i] as T
    let at = i
    for (; at > 0 && compare(items[at - 1] as T, item) > 0; at--) items[at] = items[at - 1] as T
    items[at] = item
  }
  return items
}

const fewItems = 16

/** Sorts strings in place by code point. */
export function sortStrings(strings: string[]): string[] {
  if (strings.length <= fewItems) return sortInPlace(strings, compareCodePoints)
  // The built-in sort compares code units, whose order differs from that of code points for surrogates.
  return strings.some(hasSurrogates) ? strings.sort(compareCodePoints) : strings.sort()
}

function hasSurrogates(text: string): boolean {
  return surrogate.test(text)
}

const surrogate = /[\ud800-\udfff]/

/** Whether a map has no members, without listing them. */
export function isEmptyMap(map: object): boolean {
  for (const _ in map) return false
  return true
}

function kindOf(value: JsonValue): number {
  switch (typeof value) {
    case 'number':
    case 'bigint':
      return 0
    case 'string':
      return 1
    case 'boolean':
      return 2
    default:
      return value === null ? 5 : Array.isArray(value) ? 3 : 4
  }
}

function compareLists(a: readonly JsonValue[], b: readonly JsonValue[]): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const order = compareValues(a[i] as JsonValue, b[i] as JsonValue)
    if (order !== 0) return order
  }
  return a.length - b.length
}

function compareMaps(a: { [key: string]: JsonValue }, b: { [key: string]: JsonValue }): number {
  const keys = Object.keys(a).sort(compareCodePoints)
  const others = Object.keys(b).sort(compareCodePoints)
  const length = Math.min(keys.length, others.length)
  for (let i = 0; i < length; i++) {
    const key = keys[i] as string
    const other = others[i] as string
    const order = compareCodePoints(key, other) || compareValues(a[key] as JsonValue, b[other] as JsonValue)
    if (order !== 0) return order
  }
  return keys.length - others.length
}
