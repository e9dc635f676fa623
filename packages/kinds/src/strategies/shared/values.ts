/** Small questions about decoded values: emptiness as Go sees it, equality, byte sizes. */
import type { DeepReadonly } from '@krmkit/meta'

/** Shorthand for what validation is handed. */
export type R<T> = DeepReadonly<T>

/** A text or list that is absent, null or has no elements. */
export function isEmpty(value: string | readonly unknown[] | null | undefined): value is '' | undefined | null {
  return value === undefined || value === null || value.length === 0
}

/** A map that is absent, null or has no members. */
export function isEmptyMap(value: object | null | undefined): boolean {
  if (value === undefined || value === null) return true
  for (const key in value) if (Object.hasOwn(value, key)) return false
  return true
}

/** An optional (pointer) member that is set. */
export function isSet<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null
}

/** Keys of a map in the order in which the stock server reports them: sorted, as maps are decoded without order. */
export function sortedKeys(map: object | null | undefined): string[] {
  return isSet(map) ? Object.keys(map).sort() : []
}

/** The own member `key`; never one that an object inherits. */
export function own<T>(map: { readonly [key: string]: T } | null | undefined, key: string): T | undefined {
  return isSet(map) && Object.hasOwn(map, key) ? map[key] : undefined
}

/** The items by their names; of several with one name the first. */
export function firstByName<T extends { readonly name: string }>(items: readonly T[]): Map<string, T> {
  const found = new Map<string, T>()
  for (const item of items) if (!found.has(item.name)) found.set(item.name, item)
  return found
}

function isHollow(value: unknown): boolean {
  if (value === undefined || value === null) return true
  return Array.isArray(value) && value.length === 0
}

/**
 * Equality of decoded (canonical) values; an absent member, null and an empty list are the same.
 * Quantities and times compare by their canonical text.
 */
export function semanticEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (isHollow(a) || isHollow(b)) return isHollow(a) && isHollow(b)
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (let i = 0; i < a.length; i++) if (!semanticEqual(a[i], b[i])) return false
    return true
  }
  if (typeof a !== 'object' || typeof b !== 'object' || Array.isArray(b)) return typeof a !== typeof b && looseNumber(a, b)
  const left = a as Record<string, unknown>
  const right = b as Record<string, unknown>
  for (const key of Object.keys(left)) if (!semanticEqual(left[key], own(right, key))) return false
  for (const key of Object.keys(right)) if (!Object.hasOwn(left, key) && !isHollow(right[key])) return false
  return true
}

function looseNumber(a: unknown, b: unknown): boolean {
  return (typeof a === 'bigint' || typeof b === 'bigint') && String(a) === String(b)
}

/** A mutable copy of decoded JSON, of the type that the caller knows it has. */
export function copy<T>(value: unknown): T {
  if (typeof value !== 'object' || value === null) return value as T
  if (Array.isArray(value)) return value.map(copyElement) as T
  const result: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[key]
    const own = typeof member === 'object' && member !== null ? copy<unknown>(member) : member
    // As an assignment it would change the prototype instead.
    if (key === '__proto__')
      Object.defineProperty(result, key, { value: own, writable: true, enumerable: true, configurable: true })
    else result[key] = own
  }
  return result as T
}

const copyElement = (element: unknown): unknown => copy(element)

/** Takes `from`'s member over into `to`; a member that `from` lacks is removed from `to`. */
export function keep<T extends object, K extends keyof T>(to: T, from: DeepReadonly<T>, key: K): void {
  const value = (from as T)[key]
  if (value === undefined) delete to[key]
  else to[key] = copy<T[K]>(value)
}

/** Number of bytes that a base64 text stands for. */
export function base64Bytes(text: string): number {
  if (text.length === 0) return 0
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return Math.floor((text.length * 3) / 4) - padding
}
