import type { FieldSet } from '../fieldpath/field-set.ts'
import { filterSet, type SetFilter } from '../fieldpath/set-filter.ts'
import type { TypeRef } from '../typed/types.ts'
import { strippedFields } from './strip-meta.ts'

interface Creation {
  /** The fields of the created object. */
  readonly set: FieldSet
  readonly filter: SetFilter | undefined
  /** The part of `set` that the manager owns. */
  readonly owned: FieldSet
}

/**
 * The fields of the last object created of each type. Objects of one kind mostly have the same fields, so the next object shares the set,
 * its owned part, and its encoded form.
 */
export class RecentCreations {
  readonly #byType = new WeakMap<TypeRef, Creation>()

  /** A set that the fields of the next object probably equal. */
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
