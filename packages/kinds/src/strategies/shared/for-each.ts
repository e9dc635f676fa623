/** Loops over the items of lists and the members of maps, with pauses if they are many. */

import { memberNames, type Work } from '@krmkit/base/work'
import { done } from '../../preparation.ts'
import { sortedKeys } from './sorted-keys.ts'
import { inOrder } from './values.ts'

/** Items visited between two pauses. */
export const itemsPerStep = 16

/** Size above which the enumeration of a map takes long. */
export const largeMap = 10_000

/** Calls `each` for every item, with pauses in long lists. Short lists are done when the function returns. */
export function forEachItem<T>(items: readonly T[] | null | undefined, each: (item: T, index: number) => void): Work {
  if (items === undefined || items === null) return done
  if (items.length > itemsPerStep) return eachOfManyItems(items, each)
  for (let i = 0; i < items.length; i++) each(items[i] as T, i)
  return done
}

function* eachOfManyItems<T>(items: readonly T[], each: (item: T, index: number) => void): Work {
  for (let i = 0; i < items.length; i++) {
    each(items[i] as T, i)
    if (i % itemsPerStep === itemsPerStep - 1) yield
  }
}

/**
 * Calls `each` for every member of a map of texts, sorted by key as kube-apiserver reports errors, with pauses. Small
 * maps are done when the function returns.
 */
export function forEachKey(
  map: Readonly<Record<string, string>> | null | undefined,
  each: (key: string, value: string) => void,
): Work {
  if (map === undefined || map === null) return done
  const keys = memberNames(map)
  if (keys.length > itemsPerStep) return eachOfManyKeys(map, each)
  for (const key of inOrder(keys)) each(key, map[key] ?? '')
  return done
}

function* eachOfManyKeys(map: Readonly<Record<string, string>>, each: (key: string, value: string) => void): Work {
  const keys = yield* sortedKeys(map)
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    each(key, map[key] ?? '')
    if (i % itemsPerStep === itemsPerStep - 1) yield
  }
}

/**
 * Calls `each` for every member of a map, which may change its value, in the order of the map, with pauses. Small maps are
 * done when the function returns.
 */
export function forEachMember<V>(
  map: Record<string, V> | null | undefined,
  each: (map: Record<string, V>, key: string) => void,
): Work {
  if (map === undefined || map === null) return done
  const keys = memberNames(map)
  if (keys.length > itemsPerStep) return eachOfManyMembers(map, keys, each)
  for (const key of keys) each(map, key)
  return done
}

function* eachOfManyMembers<V>(
  map: Record<string, V>,
  keys: readonly string[],
  each: (map: Record<string, V>, key: string) => void,
): Work {
  // The keys of a large map take a slice.
  yield keys.length > largeMap
  for (let i = 0; i < keys.length; i++) {
    each(map, keys[i] as string)
    if (i % itemsPerStep === itemsPerStep - 1) yield
  }
}

/** Adds the members of `from` that `to` lacks, with pauses. Small maps are done when the function returns. */
export function addMissingMembers<V>(to: Record<string, V>, from: Record<string, V> | null | undefined): Work {
  return forEachMember(from, (members, key) => {
    if (!Object.hasOwn(to, key)) to[key] = members[key] as V
  })
}
