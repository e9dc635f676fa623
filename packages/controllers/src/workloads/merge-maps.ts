import { isLargeValue, memberNames, rememberMemberNames, type Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { inSlices } from '../framework/in-slices.ts'
import { sameJson } from '../framework/same-json.ts'
import { sameCanonically } from './canonical-text.ts'

/** Labels or annotations. */
type StringMap = DeepReadonly<Record<string, string>>

/**
 * Returns a map with the members of all maps; later maps take precedence. Large maps are merged in time slices. Do not
 * mutate the result: it may be frozen, or one of the given maps.
 */
export async function mergeMaps(...maps: readonly (StringMap | null | undefined)[]): Promise<Record<string, string>> {
  if (!maps.some(isLargeValue)) return Object.assign({}, ...maps)
  const given = maps.filter((map) => map !== undefined && map !== null)
  return given.length === 1 ? (given[0] as Record<string, string>) : inSlices(mergedMembers(given))
}

/** Returns a map without some of its members, like {@link mergeMaps}. */
export async function withoutMembers(map: StringMap | undefined, names: readonly string[]): Promise<Record<string, string>> {
  if (isLargeValue(map)) return inSlices(mergedMembers([map ?? {}], names))
  return Object.fromEntries(Object.entries(map ?? {}).filter(([name]) => !names.includes(name)))
}

/** Whether two maps have the same members. */
export async function sameMaps(a: StringMap, b: StringMap): Promise<boolean> {
  return isLargeValue(a) ? inSlices(sameCanonically(a, b)) : sameJson(a, b)
}

/** Members between two yields. */
const membersPerStep = 128

export function* mergedMembers(maps: readonly StringMap[], omitted: readonly string[] = []): Work<Record<string, string>> {
  const merged: Record<string, string> = {}
  const mergedNames: string[] = []
  for (const map of maps) {
    const names = memberNames(map)
    yield true
    for (let i = 0; i < names.length; i++) {
      const name = names[i] as string
      if (i % membersPerStep === membersPerStep - 1) yield
      if (omitted.includes(name)) continue
      if (!Object.hasOwn(merged, name)) mergedNames.push(name)
      merged[name] = map[name] as string
    }
  }
  yield true
  // Caches the member names, so that encoding the request need not enumerate them again.
  rememberMemberNames(merged, mergedNames)
  return merged
}
