import { memberNames, type Work } from '@krmkit/base/work'
import type { JsonObject } from '@krmkit/meta'

/** Number of members or items visited between two yields. */
export const stepSize = 64

/** The keys of a map. Yields after listing the keys of a large map, because that takes time. */
export function* keysOf(map: JsonObject): Work<readonly string[]> {
  const keys = memberNames(map)
  if (keys.length > stepSize) yield true
  return keys
}

/**
 * The keys of an object after changes, without enumerating it.
 *
 * @param before keys of the object before the changes.
 * @param changed keys that were set or deleted, each once.
 */
export function* keysAfter(object: JsonObject, before: readonly string[], changed: Iterable<string>): Work<readonly string[]> {
  const keys: string[] = []
  const known = new Set<string>()
  let count = 0
  for (const key of before) {
    known.add(key)
    if (Object.hasOwn(object, key)) keys.push(key)
    if (++count % stepSize === 0) yield
  }
  for (const key of changed) {
    if (!known.has(key) && Object.hasOwn(object, key)) keys.push(key)
    if (++count % stepSize === 0) yield
  }
  return keys
}
