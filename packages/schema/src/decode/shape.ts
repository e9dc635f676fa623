import { isJsonObject, setMember } from '@krmkit/meta'
import { compareCodePoints } from '@krmkit/meta/go-text'
import { largeMapSize, rememberKey, rememberMemberNames, sort, type Work } from '@krmkit/meta/work'
import { NumberLiteral } from '../json/syntax.ts'

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

/**
 * As `withSortedKeys`, with pauses; returns the same object when the keys are already sorted.
 *
 * @param keys the keys in the order in which the members were set.
 * @param constant the map is not changed: `memberNames` knows the keys of a large one, which is frozen
 */
export function* sortedKeysSteps(
  object: Record<string, unknown>,
  keys: readonly string[] = Object.keys(object),
  constant = false,
): Work<Record<string, unknown>> {
  return (yield* keyedSteps(object, keys, constant)).object
}

/** An object and its keys, in the order of its members. */
interface Keyed {
  readonly object: Record<string, unknown>
  readonly keys: readonly string[]
}

/** As `sortedKeysSteps`, with the sorted keys. */
export function* keyedSteps(object: Record<string, unknown>, keys: readonly string[], constant = false): Work<Keyed> {
  if (keys.length > largeMapSize) yield true
  const remember = constant ? rememberMemberNames : rememberKey
  let sorted = true
  let plain = true
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    if (wideCharacters.test(key)) plain = false
    if (i > 0 && (keys[i - 1] as string) > key) sorted = false
    if (i % keysPerStep === 0) yield
  }
  if (sorted && plain) {
    remember(object, keys)
    return { object, keys }
  }
  const ordered = yield* sort([...keys], keyOrder(plain))
  const copy: Record<string, unknown> = {}
  for (let i = 0; i < ordered.length; i++) {
    const key = ordered[i] as string
    setMember(copy, key, object[key])
    if (i % keysPerStep === 0) yield
  }
  remember(copy, ordered)
  return { object: copy, keys: ordered }
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
 * import { runAtOnce } from '@krmkit/meta/work'
 * import { sortKeysSteps } from '@krmkit/schema/json'
 * runAtOnce(sortKeysSteps(['b', 'a'])) // [ 'a', 'b' ]
 */
export function* sortKeysSteps(keys: string[]): Work<string[]> {
  let plain = true
  for (let i = 0; i < keys.length && plain; i++) {
    plain = !wideCharacters.test(keys[i] as string)
    if (i % keysPerStep === 0) yield
  }
  return yield* sort(keys, keyOrder(plain))
}

/** A copy with the keys sorted by UTF-8 bytes, as Go prints maps. */
export function withSortedKeys(object: Record<string, unknown>): Record<string, unknown> {
  const sorted: Record<string, unknown> = {}
  for (const key of sortKeys(Object.keys(object))) setMember(sorted, key, object[key])
  return sorted
}
