/** Equality of decoded (canonical) values. */

import { memberNames, type Work } from '@krmkit/base/work'
import { largeMap } from './for-each.ts'
import { isSet, own } from './values.ts'

/** Members compared between two pauses. */
const membersPerStep = 64

/** An absent member, null and an empty list are equal. Quantities and times compare by their canonical text. */
export function semanticEqual(a: unknown, b: unknown): Work<boolean> {
  return equal(a, b, semanticVerdict)
}

/** Equality as Go's `reflect.DeepEqual` compares values: an empty list or map differs from an absent one. */
export function deepEqual(a: unknown, b: unknown): Work<boolean> {
  return equal(a, b, deepVerdict)
}

/** Whether two values are the same JSON, regardless of the order of members. */
export function jsonEqual(a: unknown, b: unknown): Work<boolean> {
  return equal(a, b, jsonVerdict)
}

/** Whether two values are equal; `undefined` for two lists or two maps, whose members decide. */
export type Verdict = (a: unknown, b: unknown) => boolean | undefined

export function semanticVerdict(a: unknown, b: unknown): boolean | undefined {
  if (a === b) return true
  if (isEmptyValue(a) || isEmptyValue(b)) return isEmptyValue(a) && isEmptyValue(b)
  if (Array.isArray(a)) return Array.isArray(b) ? undefined : false
  if (typeof a !== 'object' || typeof b !== 'object' || Array.isArray(b)) return typeof a !== typeof b && isEqualNumber(a, b)
  return undefined
}

function isEmptyValue(value: unknown): boolean {
  if (value === undefined || value === null) return true
  return Array.isArray(value) && value.length === 0
}

export function deepVerdict(a: unknown, b: unknown): boolean | undefined {
  if (a === b || !(isSet(a) || isSet(b))) return true
  if (typeof a !== 'object' || typeof b !== 'object' || !isSet(a) || !isSet(b)) return isEqualNumber(a, b)
  return Array.isArray(a) === Array.isArray(b) ? undefined : false
}

export function jsonVerdict(a: unknown, b: unknown): boolean | undefined {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || !isSet(a) || !isSet(b)) return false
  return Array.isArray(a) === Array.isArray(b) ? undefined : false
}

function isEqualNumber(a: unknown, b: unknown): boolean {
  if (typeof a === 'object' || typeof b === 'object') return false
  return (typeof a === 'bigint' || typeof b === 'bigint') && String(a) === String(b)
}

export type Members = Readonly<Record<string, unknown>>

/** Not recursive: most objects are small, and a generator for each of their values would take longer than the comparison. */
function* equal(a: unknown, b: unknown, verdict: Verdict): Work<boolean> {
  const first = verdict(a, b)
  if (first !== undefined) return first
  const open: unknown[] = [a, b]
  let count = 0
  while (open.length > 0) {
    const right = open.pop() as Members
    const left = open.pop() as Members
    if (Array.isArray(left)) {
      const other = right as unknown as readonly unknown[]
      if (left.length !== other.length) return false
      for (let i = 0; i < left.length; i++) {
        if (++count % membersPerStep === 0) yield
        const same = verdict(left[i], other[i])
        if (same === false) return false
        if (same === undefined) open.push(left[i], other[i])
      }
      continue
    }
    const names = memberNames(left)
    // The names of a large map take a slice.
    if (names.length > largeMap) yield true
    for (let i = 0; i < names.length; i++) {
      if (++count % membersPerStep === 0) yield
      const name = names[i] as string
      const member = left[name]
      const other = own(right, name)
      const same = verdict(member, other)
      if (same === false) return false
      if (same === undefined) open.push(member, other)
    }
    const others = memberNames(right)
    if (others.length > largeMap) yield true
    for (let i = 0; i < others.length; i++) {
      if (++count % membersPerStep === 0) yield
      const name = others[i] as string
      if (!Object.hasOwn(left, name) && verdict(undefined, right[name]) !== true) return false
    }
  }
  return true
}
