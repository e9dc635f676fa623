/** Copies of decoded JSON. */

import { memberCountOfLargeMap, memberNames, rememberMemberNames, type Work } from '@krmkit/base/work'
import { type DeepReadonly, setMember } from '@krmkit/meta'
import type { Members } from './equality.ts'
import { largeMap } from './for-each.ts'

/** Members copied between two pauses. */
const membersPerStep = 64

/**
 * A mutable deep copy of decoded JSON. Large maps of texts whose names are known are frozen, so that the copy shares them: see
 * `rememberMemberNames`.
 */
export function* copy<T>(value: unknown): Work<T> {
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
    setMember(copied, names[i] as string, isContainer(member) ? yield* copy(member) : member)
    if (i % membersPerStep === membersPerStep - 1) yield
  }
  rememberMemberNames(copied, names)
  return copied
}

/** Copies `from`'s member to `to`, or removes it from `to` if absent. */
export function* keep<T extends object, K extends keyof T>(to: T, from: DeepReadonly<T>, key: K): Work {
  const value = (from as T)[key]
  if (value === undefined) delete to[key]
  else to[key] = isContainer(value) ? yield* copy<T[K]>(value) : value
}
