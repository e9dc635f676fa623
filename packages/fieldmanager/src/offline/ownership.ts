import { isJsonObject, type JsonObject } from '@krmkit/meta'
import { requireObjects } from '../arguments.ts'
import { FieldManagerError } from '../field-manager-error.ts'
import type { FieldPath } from '../fieldpath/element.ts'
import { comparePaths, FieldSet } from '../fieldpath/field-set.ts'
import { decodeFieldsV1 } from '../fieldpath/fields-v1.direct.ts'
import { formatPath } from '../fieldpath/format-path.ts'
import { entriesOf } from './apply.ts'

/** A manager, as recorded in an entry of managedFields. */
export interface Owner {
  readonly manager: string
  readonly operation: string
  readonly apiVersion: string
  /** Empty for the main resource. */
  readonly subresource: string
  /** RFC 3339 timestamp of the manager's last change to the object, not necessarily to this field. */
  readonly since?: string
}

export interface OwnedField {
  readonly path: FieldPath
  /** The printed path. */
  readonly field: string
  /** The owner of the field, or the owners that share it, in the order of the entries. */
  readonly owners: readonly Owner[]
}

/**
 * The owners of each field of an object, ordered by path. Unowned fields are omitted.
 *
 * @throws FieldManagerError `InvalidFieldSet` when entries cannot be decoded.
 * @example
 * ```ts
 * import { apply, ownership } from '@krmkit/fieldmanager'
 *
 * const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop' }, data: { color: 'blue' } }
 * const { object } = apply({ applied, manager: 'ci' })
 * ownership(object).map(({ field, owners }) => `${field} ${owners[0]?.manager}`) // ['.data ci', '.data.color ci']
 * ```
 */
export function ownership(object: JsonObject): OwnedField[] {
  const owned = entrySets(object)
  const all = owned.reduce((union, { set }) => union.union(set), FieldSet.of())
  return all
    .paths()
    .sort(comparePaths)
    .map((path) => ({
      path,
      field: formatPath(path),
      owners: owned.filter(({ set }) => set.has(path)).map(({ owner }) => owner),
    }))
}

/** The field set and manager of each entry. @throws FieldManagerError `InvalidFieldSet` */
export function entrySets(object: JsonObject): { readonly set: FieldSet; readonly owner: Owner }[] {
  requireObjects('the owners', { object })
  return checkedEntries(object).map((entry) => ({
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

const textMembers = ['manager', 'operation', 'apiVersion', 'subresource', 'time'] as const

/** Checks the entries, because the object may come from a file and contain anything. */
function checkedEntries(object: JsonObject): ReturnType<typeof entriesOf> {
  const entries: unknown = entriesOf(object)
  if (!Array.isArray(entries)) throw invalid('metadata.managedFields must be a list')
  for (const [index, entry] of entries.entries()) {
    if (!isJsonObject(entry)) throw invalid(`metadata.managedFields[${index}] must be an object`)
    const wrong = textMembers.find((name) => typeof (entry[name] ?? '') !== 'string')
    if (wrong !== undefined) throw invalid(`metadata.managedFields[${index}].${wrong} must be a string`)
  }
  return entries as ReturnType<typeof entriesOf>
}

function invalid(message: string): FieldManagerError {
  return new FieldManagerError({ code: 'InvalidFieldSet', message })
}
