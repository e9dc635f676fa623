import { memberNames, type Work } from '@krmkit/meta/work'
import { sortKeys } from '@krmkit/schema/paced'
import { inOrder } from './values.ts'

/** Items of a list that are validated in one step. */
const itemsPerStep = 16

/** Size above which the enumeration of a map is a long step. */
export const largeMap = 10_000

/** Work that is done: it has ended, so that it can be delegated to again and again. */
export const done: Work = (function* () {})()
done.next()

/** Calls `each` for every item, with pauses in long lists. Short lists are done when the function returns. */
export function forEachStep<T>(items: readonly T[] | null | undefined, each: (item: T, index: number) => void): Work {
  if (items === undefined || items === null) return done
  if (items.length > itemsPerStep) return eachItemSteps(items, each)
  for (let i = 0; i < items.length; i++) each(items[i] as T, i)
  return done
}

function* eachItemSteps<T>(items: readonly T[], each: (item: T, index: number) => void): Work {
  for (let i = 0; i < items.length; i++) {
    each(items[i] as T, i)
    if (i % itemsPerStep === itemsPerStep - 1) yield
  }
}

/**
 * Calls `each` for every member of a map of texts, sorted by key as the stock server reports errors, with pauses. Small
 * maps are done when the function returns.
 */
export function forEachKeyStep(
  map: Readonly<Record<string, string>> | null | undefined,
  each: (key: string, value: string) => void,
): Work {
  if (map === undefined || map === null) return done
  const keys = memberNames(map)
  if (keys.length > itemsPerStep) return eachKeySteps(map, keys, each)
  for (const key of inOrder([...keys])) each(key, map[key] ?? '')
  return done
}

function* eachKeySteps(
  map: Readonly<Record<string, string>>,
  unsorted: readonly string[],
  each: (key: string, value: string) => void,
): Work {
  const keys = yield* sortedSteps(unsorted)
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
  if (keys.length > itemsPerStep) return eachMemberSteps(map, keys, each)
  for (const key of keys) each(map, key)
  return done
}

function* eachMemberSteps<V>(
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

/** The keys of a map in the order in which the stock server reports errors, with pauses. */
export function sortedKeysSteps(map: object): Work<string[]> {
  return sortedSteps(memberNames(map))
}

/** @param keys are not changed: they may be the remembered ones of a map */
function* sortedSteps(keys: readonly string[]): Work<string[]> {
  if (keys.length <= itemsPerStep) return [...keys].sort()
  yield true
  return yield* sortKeys([...keys])
}
