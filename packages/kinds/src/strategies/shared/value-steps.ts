/** Equality and copies of values that may be large, with pauses. */

import { setMember } from '@krmkit/meta'
import { memberCountOfLargeMap, memberNames, rememberMemberNames, type Work } from '@krmkit/meta/work'
import { largeMap } from './steps.ts'
import { deepVerdict, isSet, own, semanticVerdict } from './values.ts'

/** Members compared or copied between two yields. */
const membersPerStep = 64

/** As `semanticEqual`, with pauses. */
export function semanticEqualSteps(a: unknown, b: unknown): Work<boolean> {
  return equalSteps(a, b, semanticVerdict)
}

/** As `deepEqual`, with pauses. */
export function deepEqualSteps(a: unknown, b: unknown): Work<boolean> {
  return equalSteps(a, b, deepVerdict)
}

/** Whether two values are the same JSON, regardless of the order of members, with pauses. */
export function jsonEqualSteps(a: unknown, b: unknown): Work<boolean> {
  return equalSteps(a, b, jsonVerdict)
}

function jsonVerdict(a: unknown, b: unknown): boolean | undefined {
  if (a === b) return true
  if (!isContainer(a) || !isContainer(b)) return false
  return Array.isArray(a) === Array.isArray(b) ? undefined : false
}

type Verdict = (a: unknown, b: unknown) => boolean | undefined
type Members = Readonly<Record<string, unknown>>

/** One generator for all levels: most objects are small, and a generator for each of their values would take longer than the comparison. */
function* equalSteps(a: unknown, b: unknown, verdict: Verdict): Work<boolean> {
  const first = verdict(a, b)
  if (first !== undefined) return first
  const open: unknown[] = [a, b]
  let count = 0
  while (open.length > 0) {
    const right = open.pop()
    const left = open.pop()
    if (Array.isArray(left)) {
      const other = right as readonly unknown[]
      if (left.length !== other.length) return false
      for (let i = 0; i < left.length; i++) {
        if (++count % membersPerStep === 0) yield
        const same = verdict(left[i], other[i])
        if (same === false) return false
        if (same === undefined) open.push(left[i], other[i])
      }
      continue
    }
    const names = memberNames(left as object)
    // The names of a large map take a slice.
    if (names.length > largeMap) yield true
    for (let i = 0; i < names.length; i++) {
      if (++count % membersPerStep === 0) yield
      const member = (left as Members)[names[i] as string]
      const other = own(right as Members, names[i] as string)
      const same = verdict(member, other)
      if (same === false) return false
      if (same === undefined) open.push(member, other)
    }
    const others = memberNames(right as object)
    if (others.length > largeMap) yield true
    for (let i = 0; i < others.length; i++) {
      if (++count % membersPerStep === 0) yield
      const name = others[i] as string
      if (!Object.hasOwn(left as Members, name) && verdict(undefined, (right as Members)[name]) !== true) return false
    }
  }
  return true
}

/**
 * As `copy`, with pauses. Large maps of texts whose names are known are frozen, so that the copy shares them: see
 * `rememberMemberNames`.
 */
export function* copySteps<T>(value: unknown): Work<T> {
  if (!isContainer(value)) return value as T
  if (isKnownMap(value)) return (yield* copyKnownMap(value)) as T
  const root = emptyLike(value)
  const open: object[] = [value, root]
  let count = 0
  while (open.length > 0) {
    const to = open.pop() as Record<string, unknown>
    const from = open.pop() as Members
    const names = Array.isArray(from) ? undefined : memberNames(from)
    const length = names === undefined ? (from as unknown as readonly unknown[]).length : names.length
    if (names !== undefined && length > largeMap) yield true
    for (let i = 0; i < length; i++) {
      if (++count % membersPerStep === 0) yield
      const name = names === undefined ? i : (names[i] as string)
      const member = from[name]
      if (!isContainer(member)) setMember(to, name, member)
      else if (isKnownMap(member)) setMember(to, name, yield* copyKnownMap(member))
      else {
        const inner = emptyLike(member)
        setMember(to, name, inner)
        open.push(member, inner)
      }
    }
  }
  return root as T
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function emptyLike(value: object): object {
  return Array.isArray(value) ? [] : {}
}

/** Whether a map is large and frozen, and its names are known. */
function isKnownMap(value: object): boolean {
  return (memberCountOfLargeMap(value) ?? 0) > largeMap && Object.isFrozen(value)
}

function* copyKnownMap(map: object): Work<object> {
  const names = memberNames(map)
  let flat = true
  for (let i = 0; i < names.length && flat; i++) {
    flat = typeof (map as Members)[names[i] as string] !== 'object'
    if (i % membersPerStep === membersPerStep - 1) yield
  }
  if (flat) return map
  const copied: Record<string, unknown> = {}
  for (let i = 0; i < names.length; i++) {
    const member = (map as Members)[names[i] as string]
    setMember(copied, names[i] as string, isContainer(member) ? yield* copySteps(member) : member)
    if (i % membersPerStep === membersPerStep - 1) yield
  }
  rememberMemberNames(copied, names)
  return copied
}

/** Copies `from`'s member to `to`, or removes it from `to` if absent, with pauses. */
export function* keepSteps<T extends object, K extends keyof T>(to: T, from: Readonly<T>, key: K): Work {
  const value = from[key]
  if (value === undefined) delete to[key]
  else to[key] = isContainer(value) ? yield* copySteps<T[K]>(value) : value
}

/**
 * The map with these members, with pauses: itself, changed, unless it is frozen. For maps of a draft that nothing else
 * refers to.
 */
export function* withMembers<V>(
  map: Record<string, V> | null | undefined,
  members: Readonly<Record<string, V>>,
): Work<Record<string, V>> {
  if (!isSet(map)) return { ...members }
  if (!Object.isFrozen(map)) return Object.assign(map, members)
  const names = yield* namesOf(map)
  const copied = yield* pickSteps(map, names)
  Object.assign(copied, members)
  rememberMemberNames(copied, [...names, ...Object.keys(members).filter((name) => !Object.hasOwn(map, name))])
  return copied
}

/** The map without a member, as {@link withMembers}. */
export function* withoutMember<V>(map: Record<string, V>, name: string): Work<Record<string, V>> {
  if (!Object.isFrozen(map)) delete map[name]
  if (!Object.hasOwn(map, name)) return map
  const names = (yield* namesOf(map)).filter((each) => each !== name)
  const copied = yield* pickSteps(map, names)
  rememberMemberNames(copied, names)
  return copied
}

/** The names of the members; those of a large map take a slice. */
export function* namesOf(map: object): Work<readonly string[]> {
  const names = memberNames(map)
  if (names.length > largeMap) yield true
  return names
}

function* pickSteps<V>(map: Record<string, V>, names: readonly string[]): Work<Record<string, V>> {
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
