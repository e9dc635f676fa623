import type { FieldSet } from '../fieldpath/field-set.ts'

/** What one manager owns, in terms of one version of the kind. */
export interface VersionedSet {
  readonly set: FieldSet
  readonly apiVersion: string
  /** By apply; else by updates. */
  readonly applied: boolean
}

/** Owners by an identifier that the caller chooses. */
export type Managers = ReadonlyMap<string, VersionedSet>

export function equalManagers(a: Managers, b: Managers): boolean {
  return differentManagers(a, b).size === 0
}

/**
 * What the managers of `b` own otherwise than in `a`, both ways: paths that only one of the two has, or, when versions or
 * kinds of ownership differ, what `b` has.
 */
export function differentManagers(a: Managers, b: Managers): Managers {
  const out = new Map<string, VersionedSet>()
  for (const [manager, left] of a) {
    const right = b.get(manager)
    if (right === undefined) {
      if (!left.set.empty) out.set(manager, left)
    } else if (left.apiVersion !== right.apiVersion) out.set(manager, right)
    else {
      const set = left.set.difference(right.set).union(right.set.difference(left.set))
      if (!set.empty) out.set(manager, { ...left, set, applied: false })
    }
  }
  for (const [manager, right] of b) if (!a.has(manager) && !right.set.empty) out.set(manager, right)
  return out
}
