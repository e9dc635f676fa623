import { rememberKey, sort, type Work } from '@krmkit/base/work'
import { isJsonObject, setMember } from '@krmkit/meta'
import { compareCodePoints } from '@krmkit/meta/go-text'
import { NumberLiteral } from './syntax.ts'

/** Predicates and key order of parsed objects. */

export function isParsedObject(value: unknown): value is Record<string, unknown> {
  return isJsonObject(value) && !(value instanceof NumberLiteral)
}

/** Whether `next` may follow `previous` in an object whose keys are sorted by UTF-8 bytes; false when undecided. */
export function inOrder(previous: string, next: string): boolean {
  return previous < next && !wideCharacters.test(next)
}

/** Characters whose order differs between UTF-16 and UTF-8. */
export const wideCharacters = /[\ud800-\uffff]/

/** Keys compared or copied between two yields. */
const keysPerStep = 128

/**
 * Sorts keys by UTF-8 bytes, as Go prints maps.
 *
 * @returns the sorted keys; `keys` itself may be changed.
 * @example
 * import { runAtOnce } from '@krmkit/base/work'
 * import { sortKeys } from '@krmkit/schema/paced'
 * runAtOnce(sortKeys(['b', 'a'])) // [ 'a', 'b' ]
 */
export function* sortKeys(keys: string[]): Work<string[]> {
  let isPlain = true
  let count = 0
  for (const key of keys) {
    isPlain &&= !wideCharacters.test(key)
    if (++count % keysPerStep === 0) yield
  }
  // The default order of the engine is faster, and agrees for keys without wide characters.
  return yield* sort(keys, isPlain ? undefined : compareCodePoints)
}

/**
 * A copy with the keys sorted by UTF-8 bytes, as Go prints maps.
 *
 * @param keys all keys of the object
 */
export function* withSortedKeys(
  object: Readonly<Record<string, unknown>>,
  keys: readonly string[],
): Work<Record<string, unknown>> {
  const ordered = yield* sortKeys([...keys])
  const copy = yield* copyInOrder(object, ordered)
  rememberKey(copy, ordered)
  return copy
}

/** A copy whose members are set in the order of `keys`. */
export function* copyInOrder(object: Readonly<Record<string, unknown>>, keys: readonly string[]): Work<Record<string, unknown>> {
  const copy: Record<string, unknown> = {}
  let count = 0
  for (const key of keys) {
    setMember(copy, key, object[key])
    if (++count % keysPerStep === 0) yield
  }
  return copy
}
