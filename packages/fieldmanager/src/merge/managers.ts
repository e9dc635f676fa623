import type { FieldSet } from '../fieldpath/field-set.ts'

/** The fields that one manager owns, in one version of the kind. */
export interface VersionedSet {
  readonly set: FieldSet
  readonly apiVersion: string
  /** Owned by apply rather than by update. */
  readonly applied: boolean
}

/** Owned fields by manager; the caller chooses the keys. */
export type Managers = ReadonlyMap<string, VersionedSet>

export function equalManagers(a: Managers, b: Managers): boolean {
  return differentManagers(a, b).size === 0
}

/** The symmetric difference: per manager the paths owned in only one of both, or, when the version differs, the set of `b`. */
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
