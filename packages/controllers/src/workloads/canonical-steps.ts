import { setMember } from '@krmkit/meta'
import { isEmptyObject, memberNames, sort, type Work } from '@krmkit/meta/work'

/**
 * The functions of `canonical-text.ts` for large values: generators that can be interrupted at each yield. Enumerating the members of a
 * large map is a separate step, because it cannot be interrupted.
 */

/** A member that does not count. */
export interface Omission {
  readonly of: object
  readonly name: string
}

type Members = Readonly<Record<string, unknown>>

/** Members between two yields. */
const membersPerStep = 128

/** As `canonicalText`. */
export function* canonicalTextSteps(value: unknown, omitted?: Omission): Work<string> {
  const text = yield* textSteps(value, omitted)
  if (text !== undefined) return text
  if (value === undefined || value === null) return 'null'
  return Array.isArray(value) ? '[]' : '{}'
}

/** @returns the text; undefined for null and empty values, which are not written as members */
function* textSteps(value: unknown, omitted: Omission | undefined): Work<string | undefined> {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return yield* listSteps(value, omitted)
  const names = [...memberNames(value)]
  if (names.length > membersPerStep) yield true
  const sorted = yield* sort(names)
  const parts: string[] = []
  let isEmpty = true
  for (let i = 0; i < sorted.length; i++) {
    const name = sorted[i] as string
    if (i % membersPerStep === membersPerStep - 1) yield
    if (isOmitted(value, name, omitted)) continue
    isEmpty = false
    const text = yield* textSteps((value as Members)[name], omitted)
    if (text !== undefined) parts.push(`${JSON.stringify(name)}:${text}`)
  }
  return isEmpty ? undefined : `{${parts.join()}}`
}

function* listSteps(list: readonly unknown[], omitted: Omission | undefined): Work<string | undefined> {
  if (list.length === 0) return undefined
  const parts: string[] = []
  for (let i = 0; i < list.length; i++) {
    parts.push(yield* canonicalTextSteps(list[i], omitted))
    if (i % membersPerStep === membersPerStep - 1) yield
  }
  return `[${parts.join()}]`
}

const isOmitted = (of: object, name: string, omitted: Omission | undefined): boolean =>
  omitted !== undefined && name === omitted.name && of === omitted.of

/** As `sameCanonically`. @param omitted members of either value */
export function* sameCanonicallySteps(a: unknown, b: unknown, omitted: readonly Omission[] = []): Work<boolean> {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (!Array.isArray(a)) return !Array.isArray(b) && (yield* sameMembersSteps(a as Members, b as Members, omitted))
  if (!Array.isArray(b) || a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) {
    if (!(yield* sameCanonicallySteps(a[i], b[i], omitted))) return false
    if (i % membersPerStep === membersPerStep - 1) yield
  }
  return true
}

function* sameMembersSteps(a: Members, b: Members, omitted: readonly Omission[]): Work<boolean> {
  const names = memberNames(a)
  if (names.length > membersPerStep) yield true
  let count = 0
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string
    if (i % membersPerStep === membersPerStep - 1) yield
    if (yield* isEmptySteps(a, name, omitted)) continue
    if (yield* isEmptySteps(b, name, omitted)) return false
    if (!(yield* sameCanonicallySteps(a[name], b[name], omitted))) return false
    count++
  }
  const others = memberNames(b)
  if (others.length > membersPerStep) yield true
  for (let i = 0; i < others.length; i++) {
    if (i % membersPerStep === membersPerStep - 1) yield
    if (!(yield* isEmptySteps(b, others[i] as string, omitted))) count--
  }
  return count === 0
}

/** Whether a member is absent, omitted, null or empty. */
function* isEmptySteps(object: Members, name: string, omitted: readonly Omission[]): Work<boolean> {
  if (!Object.hasOwn(object, name) || omitted.some((omission) => isOmitted(object, name, omission))) return true
  const member = object[name]
  if (typeof member !== 'object') return member === undefined
  if (member === null) return true
  if (Array.isArray(member)) return member.length === 0
  const omission = omitted.find(({ of, name: inside }) => of === member && Object.hasOwn(member, inside))
  const isEmpty = omission === undefined ? isEmptyObject(member) : memberNames(member).length === 1
  // The engine has collected all names.
  yield true
  return isEmpty
}

/** As `withSortedMembers`. */
export function* sortedMembersSteps(value: unknown): Work<unknown> {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const list: unknown[] = []
    for (let i = 0; i < value.length; i++) {
      list.push(yield* sortedMembersSteps(value[i]))
      if (i % membersPerStep === membersPerStep - 1) yield
    }
    return list
  }
  const names = [...memberNames(value)]
  if (names.length > membersPerStep) yield true
  const sorted: Record<string, unknown> = {}
  const inOrder = yield* sort(names)
  for (let i = 0; i < inOrder.length; i++) {
    const name = inOrder[i] as string
    const member = (value as Members)[name]
    if (member !== undefined) setMember(sorted, name, yield* sortedMembersSteps(member))
    if (i % membersPerStep === membersPerStep - 1) yield
  }
  return sorted
}
