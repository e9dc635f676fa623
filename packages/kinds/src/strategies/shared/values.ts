/** Helpers for decoded values: emptiness, members, byte sizes. */

import { isEmptyObject } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'

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

/** The keys in order. Those of decoded objects mostly are already, and sorting allocates. */
export function inOrder(keys: readonly string[]): readonly string[] {
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] as string) > (keys[i] as string)) return [...keys].sort()
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

/** Number of bytes that a base64 text encodes. */
export function base64Bytes(text: string): number {
  if (text.length === 0) return 0
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return Math.floor((text.length * 3) / 4) - padding
}
