/** Helpers for decoded values: emptiness, equality, copies, byte sizes. */

import type { DeepReadonly } from '@krmkit/meta'
import { setMember } from '@krmkit/meta'
import { isEmptyObject } from '@krmkit/meta/work'

/** Shorthand for the readonly objects of validation. */
export type R<T> = DeepReadonly<T>

/** Whether a string or list is absent, null or empty. */
export function isEmpty(value: string | readonly unknown[] | null | undefined): value is '' | undefined | null {
  return value === undefined || value === null || value.length === 0
}

/** Whether a map is absent, null or empty. */
export function isEmptyMap(value: object | null | undefined): boolean {
  return value === undefined || value === null || isEmptyObject(value)
}

/** Whether an optional (pointer) member is set. */
export function isSet<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null
}

/** Sorted keys: the order in which the stock server reports errors of maps. */
export function sortedKeys(map: object | null | undefined): string[] {
  return isSet(map) ? inOrder(Object.keys(map)) : []
}

/** Sorts keys in place. Those of decoded objects are mostly in order, and sorting allocates. */
export function inOrder(keys: string[]): string[] {
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] as string) > (keys[i] as string)) return keys.sort()
  return keys
}

/** The own member `key`; never an inherited one. */
export function own<T>(map: { readonly [key: string]: T } | null | undefined, key: string): T | undefined {
  return isSet(map) && Object.hasOwn(map, key) ? map[key] : undefined
}

/** The items by name; the first of several with the same name. */
export function firstByName<T extends { readonly name: string }>(items: readonly T[]): Map<string, T> {
  const found = new Map<string, T>()
  for (const item of items) if (!found.has(item.name)) found.set(item.name, item)
  return found
}

function isEmptyValue(value: unknown): boolean {
  if (value === undefined || value === null) return true
  return Array.isArray(value) && value.length === 0
}

/**
 * Equality of decoded (canonical) values; an absent member, null and an empty list are equal. Quantities and times compare by
 * their canonical text.
 */
export function semanticEqual(a: unknown, b: unknown): boolean {
  return semanticVerdict(a, b) ?? haveEqualMembers(a as object, b as object, semanticEqual)
}

/** Whether two values are equal semantically; `undefined` for two lists or two maps, whose members decide. */
export function semanticVerdict(a: unknown, b: unknown): boolean | undefined {
  if (a === b) return true
  if (isEmptyValue(a) || isEmptyValue(b)) return isEmptyValue(a) && isEmptyValue(b)
  if (Array.isArray(a)) return Array.isArray(b) ? undefined : false
  if (typeof a !== 'object' || typeof b !== 'object' || Array.isArray(b)) return typeof a !== typeof b && isEqualNumber(a, b)
  return undefined
}

/** Whether two values are equal as Go's `reflect.DeepEqual` compares them: an empty list or map differs from an absent one. */
export function deepEqual(a: unknown, b: unknown): boolean {
  return deepVerdict(a, b) ?? haveEqualMembers(a as object, b as object, deepEqual)
}

/** Whether two values are equal as `deepEqual` compares them; `undefined` for two lists or two maps, whose members decide. */
export function deepVerdict(a: unknown, b: unknown): boolean | undefined {
  if (a === b || !(isSet(a) || isSet(b))) return true
  if (typeof a !== 'object' || typeof b !== 'object' || !isSet(a) || !isSet(b)) return isEqualNumber(a, b)
  return Array.isArray(a) === Array.isArray(b) ? undefined : false
}

/** Compares two lists or two maps. */
function haveEqualMembers(a: object, b: object, equal: (a: unknown, b: unknown) => boolean): boolean {
  if (Array.isArray(a)) {
    const other = b as readonly unknown[]
    if (a.length !== other.length) return false
    for (let i = 0; i < a.length; i++) if (!equal(a[i], other[i])) return false
    return true
  }
  const left = a as Record<string, unknown>
  const right = b as Record<string, unknown>
  for (const key of Object.keys(left)) if (!equal(left[key], own(right, key))) return false
  for (const key of Object.keys(right)) if (!Object.hasOwn(left, key) && !equal(undefined, right[key])) return false
  return true
}

function isEqualNumber(a: unknown, b: unknown): boolean {
  if (typeof a === 'object' || typeof b === 'object') return false
  return (typeof a === 'bigint' || typeof b === 'bigint') && String(a) === String(b)
}

/** A mutable deep copy of decoded JSON. */
export function copy<T>(value: unknown): T {
  if (typeof value !== 'object' || value === null) return value as T
  if (Array.isArray(value)) return value.map(copyElement) as T
  const result: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key]
    const own = typeof member === 'object' && member !== null ? copy<unknown>(member) : member
    setMember(result, key, own)
  }
  return result as T
}

const copyElement = (element: unknown): unknown => copy(element)

/** Copies `from`'s member to `to`, or removes it from `to` if absent. */
export function keep<T extends object, K extends keyof T>(to: T, from: DeepReadonly<T>, key: K): void {
  const value = (from as T)[key]
  if (value === undefined) delete to[key]
  else to[key] = copy<T[K]>(value)
}

/** Number of bytes that a base64 text encodes. */
export function base64Bytes(text: string): number {
  if (text.length === 0) return 0
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return Math.floor((text.length * 3) / 4) - padding
}
