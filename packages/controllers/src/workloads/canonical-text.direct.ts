// Derived from canonical-text.ts by `npm run direct`: do not edit.
import { memberNames, runAtOnce, sort } from '@krmkit/base/work'
import { setMember } from '@krmkit/meta'
import { isEmptyMember, type Members, membersPerStep, noOmissions, type Omission } from './canonical-text.ts'

/**
 * Returns a text that is equal for equal JSON values, regardless of the order of members. Absent, null and empty members are
 * equal. To compare two values, use the cheaper {@link sameCanonically}.
 */
export function canonicalText(value: unknown, omitted?: Omission): string {
  const text = memberText(value, omitted)
  if (text !== undefined) return text
  if (value === undefined || value === null) return 'null'
  return Array.isArray(value) ? '[]' : '{}'
}

/** @returns the text; undefined for null and empty values, which are omitted */
function memberText(value: unknown, omitted: Omission | undefined): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return listText(value, omitted)
  const names = sortedNames(value)
  let text = ''
  let isEmpty = true
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string

    if (omitted !== undefined && name === omitted.name && value === omitted.of) continue
    isEmpty = false
    const member = memberText((value as Members)[name], omitted)
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${member}`
  }
  return isEmpty ? undefined : `{${text}}`
}

function listText(list: readonly unknown[], omitted: Omission | undefined): string | undefined {
  if (list.length === 0) return undefined
  let text = ''
  for (let i = 0; i < list.length; i++) {
    text += `${i === 0 ? '' : ','}${canonicalText(list[i], omitted)}`
  }
  return `[${text}]`
}

function sortedNames(value: object): readonly string[] {
  const names = [...memberNames(value)]
  if (names.length <= membersPerStep) return names.sort()

  return runAtOnce(sort(names))
}

/** Whether the canonical texts of two JSON values are equal. @param omitted members of either value */
export function sameCanonically(a: unknown, b: unknown, omitted: readonly Omission[] = noOmissions): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (!Array.isArray(a)) return !Array.isArray(b) && sameMembers(a as Members, b as Members, omitted)
  if (!Array.isArray(b) || a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) {
    if (!sameCanonically(a[i], b[i], omitted)) return false
  }
  return true
}

function sameMembers(a: Members, b: Members, omitted: readonly Omission[]): boolean {
  let count = 0

  for (const name in a) {
    const isAbsent = isEmptyMember(a, name, omitted)

    if (isAbsent) continue
    if (isEmptyMember(b, name, omitted) || !sameCanonically(a[name], b[name], omitted)) return false
    count++
  }

  for (const name in b) {
    if (!isEmptyMember(b, name, omitted)) count--
  }
  return count === 0
}

/** Returns an equal JSON value whose members are sorted by name, the form of values that stock clients compare as text. */
export function withSortedMembers<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const list: unknown[] = []
    for (let i = 0; i < value.length; i++) {
      list.push(withSortedMembers(value[i] as unknown))
    }
    return list as T
  }
  const names = sortedNames(value)
  const sorted: Record<string, unknown> = {}
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string
    const member = (value as Members)[name]
    if (member !== undefined) setMember(sorted, name, withSortedMembers(member))
  }
  return sorted as T
}
