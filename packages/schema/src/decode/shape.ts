import { isJsonObject } from '@krmkit/meta'
import { compareCodePoints } from '@krmkit/meta/go-text'
import { largeMapSize, rememberKey } from '../json/large-maps.ts'
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
  const ordered = yield* mergeSortSteps(keys, keyOrder(plain))
  const copy: Record<string, unknown> = {}
  for (let i = 0; i < ordered.length; i++) {
    const key = ordered[i] as string
    setMember(copy, key, object[key])
    if (i % keysPerStep === 0) yield
  }
  rememberKey(copy, ordered)
  return copy
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

/**
 * Sorts keys by UTF-8 bytes, as Go prints maps: a generator that can be interrupted at each yield.
 *
 * @returns the sorted keys; `keys` itself may be changed.
 * @example
 * import { runAtOnce } from '@krmkit/meta/slices'
 * import { sortKeysSteps } from '@krmkit/schema/json'
 * runAtOnce(sortKeysSteps(['b', 'a'])) // [ 'a', 'b' ]
 */
export function* sortKeysSteps(keys: string[]): Generator<unknown, string[]> {
  let plain = true
  for (let i = 0; i < keys.length && plain; i++) {
    plain = !wideCharacters.test(keys[i] as string)
    if (i % keysPerStep === 0) yield
  }
  return yield* mergeSortSteps(keys, keyOrder(plain))
}

/** Keys sorted in one step. */
const keysPerRun = 2048

/** A merge sort of sorted runs. */
function* mergeSortSteps(keys: string[], order: ((a: string, b: string) => number) | undefined): Generator<unknown, string[]> {
  if (keys.length <= keysPerRun) return keys.sort(order)
  const before = order === undefined ? (a: string, b: string) => a <= b : (a: string, b: string) => order(a, b) <= 0
  let from: string[] = []
  for (let start = 0; start < keys.length; start += keysPerRun) {
    for (const key of keys.slice(start, start + keysPerRun).sort(order)) from.push(key)
    yield true
  }
  for (let width = keysPerRun; width < from.length; width *= 2) {
    const to: string[] = []
    for (let start = 0; start < from.length; start += 2 * width) {
      const middle = Math.min(start + width, from.length)
      const end = Math.min(middle + width, from.length)
      for (let left = start, right = middle; left < middle || right < end; ) {
        const takesLeft = right >= end || (left < middle && before(from[left] as string, from[right] as string))
        to.push(from[takesLeft ? left++ : right++] as string)
        if (to.length % keysPerStep === 0) yield
      }
    }
    from = to
  }
  return from
}

/** A copy with the keys sorted by UTF-8 bytes, as Go prints maps. */
export function withSortedKeys(object: Record<string, unknown>): Record<string, unknown> {
  const sorted: Record<string, unknown> = {}
  for (const key of sortKeys(Object.keys(object))) setMember(sorted, key, object[key])
  return sorted
}
