import { isJsonObject } from '@krmkit/meta'
import { compareCodePoints } from '@krmkit/meta/go-text'
import { NumberLiteral, setMember } from '../json/syntax.ts'

/** Predicates and key order of parsed objects. */

export function isParsedObject(value: unknown): value is Record<string, unknown> {
  return isJsonObject(value) && !(value instanceof NumberLiteral)
}

/** Whether `next` may follow `previous` in an object whose keys are sorted by UTF-8 bytes; false when undecided. */
export function inOrder(previous: string, next: string): boolean {
  return previous < next && !wideCharacters.test(next)
}

/** Characters whose order differs between UTF-16 and UTF-8. */
const wideCharacters = /[\ud800-\uffff]/

/** As `withSortedKeys`, with interruption points; returns the same object when the keys are already sorted. */
export function* sortedKeysSteps(object: Record<string, unknown>): Generator<unknown, Record<string, unknown>> {
  const keys = Object.keys(object)
  if (keys.length > largeMapSize) yield true
  let sorted = true
  let plain = true
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    if (wideCharacters.test(key)) plain = false
    if (i > 0 && (keys[i - 1] as string) > key) sorted = false
    if (i % keysPerStep === 0) yield
  }
  if (sorted && plain) {
    rememberKey(object, keys)
    return object
  }
  keys.sort(keyOrder(plain))
  if (keys.length > largeMapSize) yield true
  const copy: Record<string, unknown> = {}
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    setMember(copy, key, object[key])
    if (i % keysPerStep === 0) yield
  }
  rememberKey(copy, keys)
  return copy
}

/** Whether an object has no members. Cheap for large objects that `rememberKey` knows. */
export function isEmptyObject(object: object): boolean {
  const key = sampleKeys.get(object)
  if (key !== undefined && Object.hasOwn(object, key)) return false
  for (const _ in object) return false
  return true
}

/** Size above which a key of a map is remembered. */
export const largeMapSize = 1000

/** One key of each large map. Enumerating even one key of an object makes the engine collect all of them. */
const sampleKeys = new WeakMap<object, string>()

/** Makes `isEmptyObject` cheap for a large map. @param keys all keys of the map */
export function rememberKey(map: object, keys: readonly string[]): void {
  const key = keys.length > largeMapSize ? keys.at(-1) : undefined
  if (key !== undefined) sampleKeys.set(map, key)
}

const keysPerStep = 128

/**
 * Comparison of keys by UTF-8 bytes. `undefined` selects the engine's default order, which is faster and agrees for keys without
 * wide
 * characters.
 */
function keyOrder(plain: boolean): ((a: string, b: string) => number) | undefined {
  return plain ? undefined : compareCodePoints
}

/** Sorts keys by UTF-8 bytes, in place. */
export function sortKeys(keys: string[]): string[] {
  return keys.sort(keyOrder(!keys.some((key) => wideCharacters.test(key))))
}

/** A copy with the keys sorted by UTF-8 bytes, as Go prints maps. */
export function withSortedKeys(object: Record<string, unknown>): Record<string, unknown> {
  const sorted: Record<string, unknown> = {}
  for (const key of sortKeys(Object.keys(object))) setMember(sorted, key, object[key])
  return sorted
}
