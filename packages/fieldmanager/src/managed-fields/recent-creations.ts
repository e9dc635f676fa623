import type { FieldSet } from '../fieldpath/field-set.ts'
import { filterSet, type SetFilter } from '../fieldpath/set-filter.ts'
import type { TypeRef } from '../typed/types.ts'
import { strippedFields } from './strip-meta.ts'

interface Creation {
  /** The fields of the created object. */
  readonly set: FieldSet
  readonly filter: SetFilter | undefined
  /** Those of them that its manager owns. */
  readonly owned: FieldSet
}

/**
 * The fields of the last object created of each type. Objects of one kind mostly have the same fields, so the next one shares the set,
 * the part of it that is owned, and its encoded form.
 */
export class RecentCreations {
  readonly #byType = new WeakMap<TypeRef, Creation>()

  /** A set that is similar to that of the next object. */
  similar(type: TypeRef): FieldSet | undefined {
    return this.#byType.get(type)?.set
  }

  /** The part of a created object's fields that its manager owns. */
  owned(type: TypeRef, set: FieldSet, filter: SetFilter | undefined): FieldSet {
    const last = this.#byType.get(type)
    if (last !== undefined && last.set === set && last.filter === filter) return last.owned
    const owned = filterSet(set, filter).difference(strippedFields)
    this.#byType.set(type, { set, filter, owned })
    return owned
  }
}
