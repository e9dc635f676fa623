import { isEmptyObject, memberNames, sort, type Work } from '@krmkit/base/work'
import { setMember } from '@krmkit/meta'

/** A member to ignore. */
export interface Omission {
  readonly of: object
  readonly name: string
}

export type Members = Readonly<Record<string, unknown>>

/** Members between two yields. */
export const membersPerStep = 128

/**
 * Returns a text that is equal for equal JSON values, regardless of the order of members. Absent, null and empty members are
 * equal. To compare two values, use the cheaper {@link sameCanonically}.
 */
export function* canonicalText(value: unknown, omitted?: Omission): Work<string> {
  const text = yield* memberText(value, omitted)
  if (text !== undefined) return text
  if (value === undefined || value === null) return 'null'
  return Array.isArray(value) ? '[]' : '{}'
}

/** @returns the text; undefined for null and empty values, which are omitted */
function* memberText(value: unknown, omitted: Omission | undefined): Work<string | undefined> {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return yield* listText(value, omitted)
  const names = yield* sortedNames(value)
  let text = ''
  let isEmpty = true
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string
    if (i % membersPerStep === membersPerStep - 1) yield
    if (omitted !== undefined && name === omitted.name && value === omitted.of) continue
    isEmpty = false
    const member = yield* memberText((value as Members)[name], omitted)
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${member}`
  }
  return isEmpty ? undefined : `{${text}}`
}

function* listText(list: readonly unknown[], omitted: Omission | undefined): Work<string | undefined> {
  if (list.length === 0) return undefined
  let text = ''
  for (let i = 0; i < list.length; i++) {
    text += `${i === 0 ? '' : ','}${yield* canonicalText(list[i], omitted)}`
    if (i % membersPerStep === membersPerStep - 1) yield
  }
  return `[${text}]`
}

function* sortedNames(value: object): Work<readonly string[]> {
  const names = [...memberNames(value)]
  if (names.length <= membersPerStep) return names.sort()
  yield true
  return yield* sort(names)
}

/** Whether the canonical texts of two JSON values are equal. @param omitted members of either value */
export function* sameCanonically(a: unknown, b: unknown, omitted: readonly Omission[] = noOmissions): Work<boolean> {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (!Array.isArray(a)) return !Array.isArray(b) && (yield* sameMembers(a as Members, b as Members, omitted))
  if (!Array.isArray(b) || a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) {
    if (!(yield* sameCanonically(a[i], b[i], omitted))) return false
    if (i % membersPerStep === membersPerStep - 1) yield
  }
  return true
}

export const noOmissions: readonly Omission[] = []

function* sameMembers(a: Members, b: Members, omitted: readonly Omission[]): Work<boolean> {
  let count = 0
  const names = memberNames(a)
  if (names.length > membersPerStep) yield true
  for (const name of names) {
    const isAbsent = isEmptyMember(a, name, omitted)
    // Enumerating a large member may take long: pause after it.
    yield true
    if (isAbsent) continue
    if (isEmptyMember(b, name, omitted) || !(yield* sameCanonically(a[name], b[name], omitted))) return false
    count++
  }
  const others = memberNames(b)
  if (others.length > membersPerStep) yield true
  for (const name of others) {
    if (!isEmptyMember(b, name, omitted)) count--
    yield true
  }
  return count === 0
}

/** Whether a member is absent, omitted, null or empty. */
export function isEmptyMember(object: Members, name: string, omitted: readonly Omission[]): boolean {
  const member = object[name]
  // JSON has no functions, so a function is an inherited member.
  if (typeof member !== 'object') return member === undefined || typeof member === 'function' || isOmitted(object, name, omitted)
  if (member === null || isOmitted(object, name, omitted)) return true
  return isEmptyObject(member) || (omitted.length > 0 && hasOnlyOmitted(member, omitted))
}

function isOmitted(of: object, name: string, omitted: readonly Omission[]): boolean {
  return omitted.length > 0 && omitted.some((omission) => omission.name === name && omission.of === of)
}

function hasOnlyOmitted(member: object, omitted: readonly Omission[]): boolean {
  const isInside = omitted.some(({ of, name }) => of === member && Object.hasOwn(member, name))
  return isInside && memberNames(member).length === 1
}

/** Returns an equal JSON value whose members are sorted by name, the form of values that stock clients compare as text. */
export function* withSortedMembers<T>(value: T): Work<T> {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const list: unknown[] = []
    for (let i = 0; i < value.length; i++) {
      list.push(yield* withSortedMembers(value[i] as unknown))
      if (i % membersPerStep === membersPerStep - 1) yield
    }
    return list as T
  }
  const names = yield* sortedNames(value)
  const sorted: Record<string, unknown> = {}
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string
    const member = (value as Members)[name]
    if (member !== undefined) setMember(sorted, name, yield* withSortedMembers(member))
    if (i % membersPerStep === membersPerStep - 1) yield
  }
  return sorted as T
}
