/** Changes to maps that may be large, and frozen. */

import { memberNames, rememberMemberNames, type Work } from '@krmkit/base/work'
import { setMember } from '@krmkit/meta'
import { largeMap } from './for-each.ts'
import { isSet } from './values.ts'

/** Members copied between two pauses. */
const membersPerStep = 64

/**
 * The map with these members: itself, changed, unless it is frozen. For maps of a draft that nothing else
 * refers to.
 */
export function* withMembers<V>(
  map: Record<string, V> | null | undefined,
  members: Readonly<Record<string, V>>,
): Work<Record<string, V>> {
  if (!isSet(map)) return { ...members }
  if (!Object.isFrozen(map)) return Object.assign(map, members)
  const names = yield* namesOf(map)
  const copied = yield* pick(map, names)
  Object.assign(copied, members)
  rememberMemberNames(copied, [...names, ...Object.keys(members).filter((name) => !Object.hasOwn(map, name))])
  return copied
}

/** The map without a member, as {@link withMembers}. */
export function* withoutMember<V>(map: Record<string, V>, name: string): Work<Record<string, V>> {
  if (!Object.isFrozen(map)) delete map[name]
  if (!Object.hasOwn(map, name)) return map
  const names = (yield* namesOf(map)).filter((each) => each !== name)
  const copied = yield* pick(map, names)
  rememberMemberNames(copied, names)
  return copied
}

/** The names of the members; those of a large map take a slice. */
export function* namesOf(map: object): Work<readonly string[]> {
  const names = memberNames(map)
  if (names.length > largeMap) yield true
  return names
}

function* pick<V>(map: Record<string, V>, names: readonly string[]): Work<Record<string, V>> {
  const picked: Record<string, V> = {}
  for (let i = 0; i < names.length; i++) {
    setMember(picked, names[i] as string, map[names[i] as string])
    if (i % membersPerStep === membersPerStep - 1) yield
  }
  return picked
}

/** As `withMembers`, for members that the map may have already: those it has are kept. */
export function* withDefaultMembers<V>(
  map: Record<string, V> | null | undefined,
  members: Readonly<Record<string, V>>,
): Work<Record<string, V>> {
  const missing = Object.entries(members).filter(([name]) => !isSet(map) || !Object.hasOwn(map, name))
  if (isSet(map) && missing.length === 0) return map
  return yield* withMembers(map, Object.fromEntries(missing))
}
