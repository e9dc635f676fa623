import type { JsonObject } from '@krmkit/meta'
import type { Path } from '../fieldpath/element.ts'
import { comparePaths, FieldSet } from '../fieldpath/field-set.ts'
import { decodeFieldsV1 } from '../fieldpath/fields-v1.ts'
import { pathText } from '../fieldpath/path-text.ts'
import { entriesOf } from './apply.ts'

/** A manager, as an entry of managedFields tells of it. */
export interface Owner {
  readonly manager: string
  readonly operation: string
  readonly apiVersion: string
  /** Empty for the object itself. */
  readonly subresource: string
  /** RFC 3339; when the manager last changed anything, not necessarily this field. */
  readonly since?: string
}

export interface OwnedField {
  readonly path: Path
  /** The path as it is printed. */
  readonly field: string
  /** One, or several that agree; in the order of the entries. */
  readonly owners: readonly Owner[]
}

/**
 * Who owns which field of an object, in the order of paths. Fields that nobody owns are not listed.
 *
 * @throws FieldManagerError `InvalidFieldSet` when entries cannot be read.
 */
export function ownership(object: JsonObject): OwnedField[] {
  const owned = entrySets(object)
  const all = owned.reduce((union, { set }) => union.union(set), FieldSet.of())
  return all
    .paths()
    .sort(comparePaths)
    .map((path) => ({ path, field: pathText(path), owners: owned.filter(({ set }) => set.has(path)).map(({ owner }) => owner) }))
}

/** The entries of an object: who, and what. @throws FieldManagerError `InvalidFieldSet` */
export function entrySets(object: JsonObject): { readonly set: FieldSet; readonly owner: Owner }[] {
  return entriesOf(object).map((entry) => ({
    set: decodeFieldsV1(entry.fieldsV1),
    owner: {
      manager: entry.manager ?? '',
      operation: entry.operation ?? '',
      apiVersion: entry.apiVersion ?? '',
      subresource: entry.subresource ?? '',
      ...(entry.time === undefined ? {} : { since: entry.time }),
    },
  }))
}
