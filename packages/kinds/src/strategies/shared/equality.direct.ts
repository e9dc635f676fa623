// Derived from equality.ts by `npm run direct`: do not edit.

import { memberNames } from '@krmkit/base/work'
import { deepVerdict, jsonVerdict, type Members, semanticVerdict, type Verdict } from './equality.ts'
import { own } from './values.ts'

/** An absent member, null and an empty list are equal. Quantities and times compare by their canonical text. */
export function semanticEqual(a: unknown, b: unknown): boolean {
  return equal(a, b, semanticVerdict)
}

/** Equality as Go's `reflect.DeepEqual` compares values: an empty list or map differs from an absent one. */
export function deepEqual(a: unknown, b: unknown): boolean {
  return equal(a, b, deepVerdict)
}

/** Whether two values are the same JSON, regardless of the order of members. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  return equal(a, b, jsonVerdict)
}

/** Not recursive: most objects are small, and a generator for each of their values would take longer than the comparison. */
function equal(a: unknown, b: unknown, verdict: Verdict): boolean {
  const first = verdict(a, b)
  if (first !== undefined) return first
  const open: unknown[] = [a, b]

  while (open.length > 0) {
    const right = open.pop() as Members
    const left = open.pop() as Members
    if (Array.isArray(left)) {
      const other = right as unknown as readonly unknown[]
      if (left.length !== other.length) return false
      for (let i = 0; i < left.length; i++) {
        const same = verdict(left[i], other[i])
        if (same === false) return false
        if (same === undefined) open.push(left[i], other[i])
      }
      continue
    }
    const names = memberNames(left)

    for (let i = 0; i < names.length; i++) {
      const name = names[i] as string
      const member = left[name]
      const other = own(right, name)
      const same = verdict(member, other)
      if (same === false) return false
      if (same === undefined) open.push(member, other)
    }
    const others = memberNames(right)

    for (let i = 0; i < others.length; i++) {
      const name = others[i] as string
      if (!Object.hasOwn(left, name) && verdict(undefined, right[name]) !== true) return false
    }
  }
  return true
}
