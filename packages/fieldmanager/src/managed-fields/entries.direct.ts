// Derived from entries.ts by `npm run direct`: do not edit.
import type { DeepReadonly, JsonObject, JsonValue, ManagedFieldsEntry } from '@krmkit/meta'
import { FieldManagerError } from '../field-manager-error.ts'
import type { FieldSet } from '../fieldpath/field-set.ts'
import { decodeFieldsV1, encodeFieldsV1 } from '../fieldpath/fields-v1.direct.ts'
import type { VersionedSet } from '../merge/managers.ts'
import { equalValues } from '../value/equal.direct.ts'
import { sortInPlace } from '../value/order.ts'
import {
  checkFieldsType,
  compareEntries,
  decoded,
  emptyManaged,
  entryOf,
  hasSameManager,
  invalid,
  type Managed,
} from './entries.ts'
import { managerKey, parseManagerKey } from './manager-id.ts'

/**
 * Decodes the managedFields of an object. The last entry of a manager takes precedence.
 *
 * @throws FieldManagerError `InvalidManagedFields` for entries without operation, version or fields type, and for malformed field sets.
 * @example
 * ```ts
 * import { decodeManagedFields } from '@krmkit/fieldmanager/managed-fields'
 *
 * const entry = { manager: 'ci', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } }
 * const { managers } = decodeManagedFields([entry])
 * Array.from(managers, ([key, { set }]) => `${key} owns ${set}`) // ['{"manager":"ci","operation":"Apply"} owns .data']
 * ```
 */
export function decodeManagedFields(entries: DeepReadonly<ManagedFieldsEntry[]> | null | undefined): Managed {
  if (entries === null || entries === undefined || entries.length === 0) return emptyManaged
  const known = decoded.get(entries)
  if (known !== undefined) return known
  const managed = decodeEntries(entries)
  // Frozen lists are deeply frozen, so the result stays valid.
  if (Object.isFrozen(entries)) decoded.set(entries, managed)
  return managed
}

function decodeEntries(entries: DeepReadonly<ManagedFieldsEntry[]>): Managed {
  const managers = new Map<string, VersionedSet>()
  const times = new Map<string, string>()
  const sources = new Map<string, DeepReadonly<ManagedFieldsEntry>>()
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i] as DeepReadonly<ManagedFieldsEntry>
    const { operation, apiVersion, time } = entry
    if (operation !== 'Apply' && operation !== 'Update') throw invalid('operation must be `Apply` or `Update`')
    if (apiVersion === undefined || apiVersion === '') throw invalid('apiVersion must not be empty')
    checkFieldsType(entry.fieldsType ?? '', i)

    const key = managerKey({ manager: entry.manager ?? '', operation, apiVersion, subresource: entry.subresource ?? '' })
    const set = decodeSet(entry)
    managers.set(key, { set, apiVersion, applied: operation === 'Apply' })
    if (time === undefined || time === null) times.delete(key)
    else times.set(key, time)
    sources.set(key, entry)
  }
  return { managers, times, sources }
}

/**
 * Encodes managedFields: apply entries before update entries, then by timestamp, manager, version and sub-resource.
 *
 * @example
 * ```ts
 * import { FieldSet } from '@krmkit/fieldmanager'
 * import { encodeManagedFields, managerKey } from '@krmkit/fieldmanager/managed-fields'
 *
 * const key = managerKey({ manager: 'ci', operation: 'Apply', apiVersion: '', subresource: '' })
 * const owned = { set: FieldSet.of(['f:data']), apiVersion: 'v1', applied: true }
 * encodeManagedFields({ managers: new Map([[key, owned]]), times: new Map() })
 * // [{ manager: 'ci', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': {} } }]
 * ```
 */
export function encodeManagedFields({ managers, times, sources }: Managed): ManagedFieldsEntry[] {
  const entries: ManagedFieldsEntry[] = []
  for (const [key, owned] of managers) {
    const time = times.get(key)
    const source = sources?.get(key)
    const fieldsV1 = encodeFieldsV1(owned.set)
    const same = source !== undefined && source.fieldsV1 === fieldsV1 && source.time === time
    if (same && source.apiVersion === owned.apiVersion) entries.push(source as ManagedFieldsEntry)
    else entries.push(entryOf(parseManagerKey(key), owned, { time, fieldsV1 }))
  }
  return sortInPlace(entries, compareEntries)
}

/** Whether both lists have the same entries in the same order, apart from timestamps. */
export function equalOwnership(
  a: DeepReadonly<ManagedFieldsEntry[]> | undefined,
  b: DeepReadonly<ManagedFieldsEntry[]>,
): boolean {
  if (a === undefined || a.length !== b.length) return a === undefined && b.length === 0
  for (const [i, entry] of a.entries()) {
    const other = b[i] as DeepReadonly<ManagedFieldsEntry>
    if (entry === other) continue
    if (!hasSameManager(entry, other)) return false
    if (!equalValues(entry.fieldsV1 as JsonValue | undefined, other.fieldsV1 as JsonValue | undefined)) return false
  }
  return true
}

/**
 * The reason why managedFields cannot be decoded; `undefined` when they are valid. When admission leaves invalid entries, its changes of
 * managedFields are undone with a warning.
 *
 * @example
 * ```ts
 * import { managedFieldsProblem } from '@krmkit/fieldmanager/managed-fields'
 *
 * const entry = { manager: 'ci', operation: 'Apply', fieldsType: 'FieldsV1', fieldsV1: {} }
 * managedFieldsProblem([entry]) // 'apiVersion must not be empty'
 * ```
 */
export function managedFieldsProblem(entries: DeepReadonly<ManagedFieldsEntry[]> | null | undefined): string | undefined {
  try {
    decodeManagedFields(entries)
    return undefined
  } catch (error) {
    if (error instanceof FieldManagerError) return error.message
    throw error
  }
}

function decodeSet({ fieldsV1 }: DeepReadonly<ManagedFieldsEntry>): FieldSet {
  try {
    return decodeFieldsV1(fieldsV1 as DeepReadonly<JsonObject> | undefined)
  } catch (error) {
    if (error instanceof FieldManagerError) throw invalid(`error decoding versioned set: ${error.message}`)
    throw error
  }
}
