// Derived from shape.ts by `npm run direct`: do not edit.
import { runAtOnce, sort } from '@krmkit/base/work'
import { setMember } from '@krmkit/meta'
import { compareCodePoints } from '@krmkit/meta/go-text'
import { wideCharacters } from './shape.ts'

/**
 * Sorts keys by UTF-8 bytes, as Go prints maps.
 *
 * @returns the sorted keys; `keys` itself may be changed.
 * @example
 * import { runAtOnce } from '@krmkit/base/work'
 * import { sortKeys } from '@krmkit/schema/paced'
 * runAtOnce(sortKeys(['b', 'a'])) // [ 'a', 'b' ]
 */
export function sortKeys(keys: string[]): string[] {
  let isPlain = true

  for (const key of keys) {
    isPlain &&= !wideCharacters.test(key)
  }
  // The default order of the engine is faster, and agrees for keys without wide characters.
  return runAtOnce(sort(keys, isPlain ? undefined : compareCodePoints))
}

/**
 * A copy with the keys sorted by UTF-8 bytes, as Go prints maps.
 *
 * @param keys all keys of the object
 */
export function withSortedKeys(object: Readonly<Record<string, unknown>>, keys: readonly string[]): Record<string, unknown> {
  const ordered = sortKeys([...keys])
  const copy = copyInOrder(object, ordered)

  return copy
}

/** A copy whose members are set in the order of `keys`. */
export function copyInOrder(object: Readonly<Record<string, unknown>>, keys: readonly string[]): Record<string, unknown> {
  const copy: Record<string, unknown> = {}

  for (const key of keys) {
    setMember(copy, key, object[key])
  }
  return copy
}
