/** Remembers the size of large maps: enumerating even one key of an object makes the engine collect all of them. */

/** Size above which a map is remembered. */
export const largeMapSize = 1000

interface MapSample {
  readonly key: string
  readonly count: number
}

const samples = new WeakMap<object, MapSample>()
/** Most processes never see a large map, and small objects are looked up on every write. */
let hasSamples = false

/** Makes `isEmptyObject` and `memberCountOfLargeMap` cheap for a large map. @param keys all keys of the map */
export function rememberKey(map: object, keys: readonly string[]): void {
  const key = keys.length > largeMapSize ? keys.at(-1) : undefined
  if (key === undefined) return
  hasSamples = true
  samples.set(map, { key, count: keys.length })
}

/** Whether an object has no members. Cheap for large objects that `rememberKey` knows. */
export function isEmptyObject(object: object): boolean {
  const sample = hasSamples ? samples.get(object) : undefined
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
  return hasSamples ? samples.get(map)?.count : undefined
}
