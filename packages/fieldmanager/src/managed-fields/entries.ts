import type { Work } from '@krmkit/base/work'
import type { DeepReadonly, JsonObject, JsonValue, ManagedFieldsEntry } from '@krmkit/meta'
import { compareCodePoints } from '@krmkit/meta/go-text'
import { FieldManagerError } from '../field-manager-error.ts'
import type { FieldSet } from '../fieldpath/field-set.ts'
import { decodeFieldsV1, encodeFieldsV1 } from '../fieldpath/fields-v1.ts'
import type { Managers, VersionedSet } from '../merge/managers.ts'
import { equalValues } from '../value/equal.ts'
import { sortInPlace } from '../value/order.ts'
import { type ManagerId, managerKey, parseManagerKey } from './manager-id.ts'

/** Decoded `metadata.managedFields`, by `managerKey`. */
export interface Managed {
  readonly managers: Managers
  /** RFC 3339 timestamps of the managers that have one. */
  readonly times: ReadonlyMap<string, string>
  /** The entries that managers were decoded from, reused when encoding unchanged managers. */
  readonly sources?: ReadonlyMap<string, DeepReadonly<ManagedFieldsEntry>> | undefined
}

export const emptyManaged: Managed = { managers: new Map(), times: new Map() }

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
export function* decodeManagedFields(entries: DeepReadonly<ManagedFieldsEntry[]> | null | undefined): Work<Managed> {
  if (entries === null || entries === undefined || entries.length === 0) return emptyManaged
  const known = decoded.get(entries)
  if (known !== undefined) return known
  const managed = yield* decodeEntries(entries)
  // Frozen lists are deeply frozen, so the result stays valid.
  if (Object.isFrozen(entries)) decoded.set(entries, managed)
  return managed
}

/** Decoded lists of stored (frozen) objects, by identity. */
export const decoded = new WeakMap<object, Managed>()

function* decodeEntries(entries: DeepReadonly<ManagedFieldsEntry[]>): Work<Managed> {
  const managers = new Map<string, VersionedSet>()
  const times = new Map<string, string>()
  const sources = new Map<string, DeepReadonly<ManagedFieldsEntry>>()
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i] as DeepReadonly<ManagedFieldsEntry>
    const { operation, apiVersion, time } = entry
    if (operation !== 'Apply' && operation !== 'Update') throw invalid('operation must be `Apply` or `Update`')
    if (apiVersion === undefined || apiVersion === '') throw invalid('apiVersion must not be empty')
    checkFieldsType(entry.fieldsType ?? '', i)
    yield
    const key = managerKey({ manager: entry.manager ?? '', operation, apiVersion, subresource: entry.subresource ?? '' })
    const set = yield* decodeSet(entry)
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
export function* encodeManagedFields({ managers, times, sources }: Managed): Work<ManagedFieldsEntry[]> {
  const entries: ManagedFieldsEntry[] = []
  for (const [key, owned] of managers) {
    const time = times.get(key)
    const source = sources?.get(key)
    const fieldsV1 = yield* encodeFieldsV1(owned.set)
    const same = source !== undefined && source.fieldsV1 === fieldsV1 && source.time === time
    if (same && source.apiVersion === owned.apiVersion) entries.push(source as ManagedFieldsEntry)
    else entries.push(entryOf(parseManagerKey(key), owned, { time, fieldsV1 }))
    yield
  }
  return sortInPlace(entries, compareEntries)
}

/** Whether both lists consist of the same entry objects, as they do when ownership has not changed. */
export function identicalEntries(
  a: DeepReadonly<ManagedFieldsEntry[]> | undefined,
  b: DeepReadonly<ManagedFieldsEntry[]>,
): a is DeepReadonly<ManagedFieldsEntry[]> {
  return a !== undefined && a.length === b.length && a.every((entry, i) => entry === b[i])
}

/** Whether both lists have the same entries in the same order, apart from timestamps. */
export function* equalOwnership(
  a: DeepReadonly<ManagedFieldsEntry[]> | undefined,
  b: DeepReadonly<ManagedFieldsEntry[]>,
): Work<boolean> {
  if (a === undefined || a.length !== b.length) return a === undefined && b.length === 0
  for (const [i, entry] of a.entries()) {
    const other = b[i] as DeepReadonly<ManagedFieldsEntry>
    if (entry === other) continue
    if (!hasSameManager(entry, other)) return false
    if (!(yield* equalValues(entry.fieldsV1 as JsonValue | undefined, other.fieldsV1 as JsonValue | undefined))) return false
  }
  return true
}

export function hasSameManager(a: DeepReadonly<ManagedFieldsEntry>, b: DeepReadonly<ManagedFieldsEntry>): boolean {
  return (
    (a.manager ?? '') === (b.manager ?? '') &&
    a.operation === b.operation &&
    a.apiVersion === b.apiVersion &&
    (a.subresource ?? '') === (b.subresource ?? '')
  )
}

export function entryOf(
  { manager, subresource }: Pick<ManagerId, 'manager' | 'subresource'>,
  { apiVersion, applied }: VersionedSet,
  { time, fieldsV1 }: { readonly time: string | undefined; readonly fieldsV1: JsonObject },
): ManagedFieldsEntry {
  const entry: ManagedFieldsEntry = {}
  if (manager !== '') entry.manager = manager
  entry.operation = applied ? 'Apply' : 'Update'
  entry.apiVersion = apiVersion
  if (time !== undefined) entry.time = time
  entry.fieldsType = 'FieldsV1'
  entry.fieldsV1 = fieldsV1
  if (subresource !== '') entry.subresource = subresource
  return entry
}

export function compareEntries(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  if (a.operation !== b.operation) return a.operation === 'Apply' ? -1 : 1
  return (
    compareTimes(a.time, b.time) ||
    compareCodePoints(a.manager ?? '', b.manager ?? '') ||
    compareCodePoints(a.apiVersion ?? '', b.apiVersion ?? '') ||
    compareCodePoints(a.subresource ?? '', b.subresource ?? '')
  )
}

function compareTimes(a: string | undefined, b: string | undefined): number {
  return a === b ? 0 : secondsOf(a) - secondsOf(b)
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
export function* managedFieldsProblem(entries: DeepReadonly<ManagedFieldsEntry[]> | null | undefined): Work<string | undefined> {
  try {
    yield* decodeManagedFields(entries)
    return undefined
  } catch (error) {
    if (error instanceof FieldManagerError) return error.message
    throw error
  }
}

/** Seconds since the epoch; 0 without a timestamp. */
export function secondsOf(time: string | undefined): number {
  const ms = time === undefined ? 0 : Date.parse(time)
  return Number.isNaN(ms) ? 0 : Math.floor(ms / 1000)
}

function* decodeSet({ fieldsV1 }: DeepReadonly<ManagedFieldsEntry>): Work<FieldSet> {
  try {
    return yield* decodeFieldsV1(fieldsV1 as DeepReadonly<JsonObject> | undefined)
  } catch (error) {
    if (error instanceof FieldManagerError) throw invalid(`error decoding versioned set: ${error.message}`)
    throw error
  }
}

export function checkFieldsType(fieldsType: string, index: number): void {
  if (fieldsType === 'FieldsV1') return
  if (fieldsType === '') throw invalid(`missing fieldsType in managed fields entry ${index}`)
  throw invalid(`invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`)
}

export function invalid(message: string): FieldManagerError {
  return new FieldManagerError({ code: 'InvalidManagedFields', message })
}
