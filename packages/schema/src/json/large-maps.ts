/** Remembers the keys of large maps: enumerating even one key of an object makes the engine collect and sort all of them. */

/** Size above which a map is remembered. */
export const largeMapSize = 1000

interface MapSample {
  readonly key: string
  readonly count: number
  /** All keys, of maps that do not change. */
  readonly keys: readonly string[] | undefined
}

const samples = new WeakMap<object, MapSample>()

/** Makes `isEmptyObject` and `memberCountOfLargeMap` cheap for a large map. @param keys all keys of the map */
export function rememberKey(map: object, keys: readonly string[]): void {
  const key = keys.length > largeMapSize ? keys.at(-1) : undefined
  if (key !== undefined) samples.set(map, { key, count: keys.length, keys: undefined })
}

/** As `rememberKey`, and makes `memberNames` cheap. @param map never changes afterwards. @param keys likewise */
export function rememberKeys(map: object, keys: readonly string[]): void {
  const key = keys.length > largeMapSize ? keys.at(-1) : undefined
  if (key !== undefined) samples.set(map, { key, count: keys.length, keys })
}

/**
 * The keys of an object. For large objects that the exact reader of JSON has parsed, in the order of the text and without an
 * enumeration, which takes more than 50 ms for 200 000 members and cannot be interrupted.
 *
 * @example
 * import { memberNames } from '@krmkit/schema/json'
 * memberNames({ app: 'web' }) // [ 'app' ]
 */
export function memberNames(object: object): readonly string[] {
  return samples.get(object)?.keys ?? Object.keys(object)
}

/** Whether an object has no members. Cheap for large objects that `rememberKey` knows. */
export function isEmptyObject(object: object): boolean {
  const sample = samples.get(object)
  if (sample !== undefined && Object.hasOwn(object, sample.key)) return false
  for (const _ in object) return false
  return true
}

/**
 * Number of members of a map when it was parsed, decoded or normalized, if it was large; otherwise `undefined`.
 *
 * @example
 * import { memberCountOfLargeMap } from '@krmkit/schema/json'
 * memberCountOfLargeMap({ app: 'web' }) // undefined
 */
export function memberCountOfLargeMap(map: object): number | undefined {
  return samples.get(map)?.count
}
