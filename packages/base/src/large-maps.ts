/**
 * Caches the keys of large maps, because enumerating even one key of an object makes the engine collect and sort all keys.
 */

/** Size above which a sample key and the count of a map are cached. */
export const largeMapSize = 1000

/** Size above which all keys are cached. Enumerating this many takes about a millisecond. */
const manyKeys = 10_000

interface MapSample {
  readonly key: string
  readonly count: number
  /** All keys; only for frozen maps. */
  readonly keys: readonly string[] | undefined
}

const samples = new WeakMap<object, MapSample>()
/** False until the first large map: most processes never see one, and the look-up is on the path of every write. */
let hasSamples = false

/**
 * Makes `isEmptyObject` and `memberCountOfLargeMap` cheap for a large map.
 *
 * @param keys all keys of the map
 * @example
 * import { memberCountOfLargeMap, rememberKey } from '@krmkit/base/work'
 * const keys = Array.from({ length: 2000 }, (_, i) => `k${i}`)
 * const map = Object.fromEntries(keys.map((key) => [key, 'v']))
 * rememberKey(map, keys)
 * memberCountOfLargeMap(map) // 2000
 */
export function rememberKey(map: object, keys: readonly string[]): void {
  const key = keys.length > largeMapSize ? keys.at(-1) : undefined
  if (key === undefined) return
  hasSamples = true
  samples.set(map, { key, count: keys.length, keys: undefined })
}

/**
 * Makes `memberNames` cheap for a large object. Freezes the object, because its keys must not change.
 *
 * @param names all keys of the object; must not change afterwards.
 * @example
 * import { memberNames, rememberMemberNames } from '@krmkit/base/work'
 * const names = Array.from({ length: 100_000 }, (_, i) => `k${i}`)
 * const object = Object.fromEntries(names.map((name) => [name, 'v']))
 * rememberMemberNames(object, names)
 * memberNames(object) === names // true
 */
export function rememberMemberNames(object: object, names: readonly string[]): void {
  if (names.length <= manyKeys) {
    rememberKey(object, names)
    return
  }
  hasSamples = true
  samples.set(Object.freeze(object), { key: names.at(-1) as string, count: names.length, keys: names })
}

/**
 * Returns the keys of an object. Cached keys, such as those of large objects parsed by the exact JSON reader, need no
 * enumeration, which takes more than 50 ms for 200 000 members and cannot pause.
 *
 * @example
 * import { memberNames } from '@krmkit/base/work'
 * memberNames({ app: 'web' }) // [ 'app' ]
 */
export function memberNames(object: object): readonly string[] {
  return (hasSamples ? samples.get(object)?.keys : undefined) ?? Object.keys(object)
}

/**
 * Whether an object has no members. Cheap for large objects that were passed to `rememberKey`.
 *
 * @example
 * import { isEmptyObject } from '@krmkit/base/work'
 * isEmptyObject({}) // true
 */
export function isEmptyObject(object: object): boolean {
  const sample = hasSamples ? samples.get(object) : undefined
  if (sample !== undefined && Object.hasOwn(object, sample.key)) return false
  for (const _ in object) return false
  return true
}

/**
 * Returns the number of members that a large map had when it was parsed, decoded or normalized; `undefined` for others.
 *
 * @example
 * import { memberCountOfLargeMap } from '@krmkit/base/work'
 * memberCountOfLargeMap({ app: 'web' }) // undefined
 */
export function memberCountOfLargeMap(map: object): number | undefined {
  return hasSamples ? samples.get(map)?.count : undefined
}

/** Number of values above which work on a JSON value runs in slices. Work on this many takes far less than one slice. */
const manyValues = 2000

/** Objects known to be large, so that their keys are not enumerated again, which takes linear time. */
const wideObjects = new WeakSet<object>()
/** False until the first large object: most processes never see one, and every write checks its object several times. */
let hasWideObjects = false

/**
 * Whether a JSON value has so many members and elements, at any depth, that work on all of them should run in slices. Visits
 * at most as many values as the limit.
 *
 * @example
 * import { isLargeValue } from '@krmkit/base/work'
 * isLargeValue({ metadata: { name: 'web' } }) // false
 * isLargeValue(Array.from({ length: 5000 }, String)) // true
 */
export function isLargeValue(value: unknown): boolean {
  return count(value, 0) > manyValues
}

function count(value: unknown, before: number): number {
  if (typeof value !== 'object' || value === null) return before
  if (hasWideObjects && wideObjects.has(value)) return before + manyValues + 1
  const known = memberCountOfLargeMap(value)
  if (known !== undefined && before + known > manyValues) return before + known
  let values = before
  if (Array.isArray(value)) {
    values += value.length
    for (let i = 0; i < value.length && values <= manyValues; i++) {
      const item: unknown = value[i]
      if (typeof item === 'object' && item !== null) values = count(item, values)
    }
    return values
  }
  for (const key in value) {
    if (++values > manyValues) break
    const member = (value as Record<string, unknown>)[key]
    if (typeof member === 'object' && member !== null) values = count(member, values)
  }
  if (values - before > manyValues) {
    hasWideObjects = true
    wideObjects.add(value)
  }
  return values
}
