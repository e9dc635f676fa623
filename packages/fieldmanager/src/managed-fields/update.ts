import type { Work } from '@krmkit/base/work'
import { type ApiObject, type DeepReadonly, formatTime, type JsonObject, type ManagedFieldsEntry } from '@krmkit/meta'
import { FieldManagerError } from '../field-manager-error.ts'
import { encodeFieldsV1 } from '../fieldpath/fields-v1.ts'
import type { VersionedSet } from '../merge/managers.ts'
import { ownsChanges, updateManagers } from '../merge/updater.ts'
import { compareTyped } from '../typed/compare.ts'
import { createdSet } from '../typed/created-set.ts'
import { capManagers } from './cap-managers.ts'
import { decodeManagedFields, emptyManaged, encodeManagedFields, entryOf, identicalEntries, type Managed } from './entries.ts'
import { managerKey } from './manager-id.ts'
import { RecentCreations } from './recent-creations.ts'
import { stripMeta, strippedFields } from './strip-meta.ts'
import {
  converterOf,
  type FrozenObject,
  type ResetFields,
  type TypeConverter,
  withManagedFields,
  withoutManagedFields,
} from './type-converter.ts'

/** Manager name of writes without one. */
export const unknownManager = 'unknown'

/** A create, update or non-apply patch. */
export interface TrackUpdateRequest<T extends FrozenObject = ApiObject> {
  /** The stored object; absent for a create. */
  readonly live?: FrozenObject | undefined
  /** The object to be stored, with the managedFields that the client sent. Not modified. */
  readonly next: T
  /** An empty name becomes `unknown`. */
  readonly manager: string
  /** The version of both objects. */
  readonly apiVersion: string
  readonly subresource?: string | undefined
  readonly resetFields?: ResetFields | undefined
  /** Milliseconds since the epoch; when absent, timestamps are kept. */
  readonly now?: number | undefined
  readonly types: TypeConverter
  /**
   * Whether an object that does not match its type keeps the managedFields of the live object, as since Kubernetes 1.37. Default false: it
   * loses them.
   */
  readonly keepsLiveOnMismatch?: boolean | undefined
}

/**
 * The object with managedFields after a create, update or non-apply patch: the manager owns every field that differs from the live object.
 *
 * Valid managedFields sent by the client replace the stored ones, except in sub-resource requests. A list with a single empty entry resets
 * ownership first. An object that does not match its type, for example with list items that lack their keys, loses its managedFields, or
 * keeps those of the live object (`keepsLiveOnMismatch`). Never throws.
 *
 * Differs: an empty list of managedFields changes nothing, and changes are recorded after a reset as well.
 *
 * @see API protocol specification, 4.7
 * @example
 * ```ts
 * import { trackUpdate } from '@krmkit/fieldmanager'
 * import { deducedTypeConverter as types } from '@krmkit/fieldmanager/managed-fields'
 * import type { ApiObject } from '@krmkit/meta'
 *
 * const next = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop' }, data: { color: 'blue' } }
 * const { metadata } = trackUpdate<ApiObject>({ next, manager: 'kubectl', apiVersion: 'v1', now: Date.now(), types })
 * metadata.managedFields?.[0]?.fieldsV1 // { 'f:data': { '.': {}, 'f:color': {} } }
 * ```
 */
export function* trackUpdate<T extends FrozenObject>(request: TrackUpdateRequest<T>): Work<T> {
  return withManagedFields(request.next, (yield* managedFieldsAfterUpdate(request)) as unknown as JsonObject[] | undefined)
}

/**
 * The managedFields that {@link trackUpdate} sets; the live object's own list when ownership does not change.
 *
 * @example
 * ```ts
 * import { deducedTypeConverter as types, managedFieldsAfterUpdate } from '@krmkit/fieldmanager/managed-fields'
 *
 * const next = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop' }, data: { color: 'blue' } }
 * const entries = managedFieldsAfterUpdate({ next, manager: 'kubectl', apiVersion: 'v1', types })
 * entries?.map(({ manager, operation }) => `${manager} ${operation}`) // ['kubectl Update']
 * ```
 */
export function* managedFieldsAfterUpdate(
  request: TrackUpdateRequest<FrozenObject>,
): Work<DeepReadonly<ManagedFieldsEntry[]> | undefined> {
  const { live, next, subresource = '' } = request
  const stored = live?.metadata?.managedFields
  const before = yield* decodeLiveOrNext(stored, next.metadata?.managedFields, subresource !== '')
  if (live === undefined && before === emptyManaged) {
    const created = yield* createdEntries(request)
    if (created !== undefined) return created.length === 0 ? undefined : created
  }
  const managed = yield* changedManagers(before, request)
  if (managed === undefined && request.keepsLiveOnMismatch === true) return stored
  if (managed === undefined || managed.managers.size === 0) return undefined
  const entries = yield* encodeManagedFields(managed)
  return identicalEntries(stored, entries) ? stored : entries
}

export const recent = new RecentCreations()

/** Fast path for created objects, which mostly have one manager that owns every field. `undefined` when the fast path does not apply. */
function* createdEntries(request: TrackUpdateRequest<FrozenObject>): Work<ManagedFieldsEntry[] | undefined> {
  const { next, apiVersion, types, subresource = '', now } = request
  const type = types.typed(apiVersion)
  if (type === undefined) return undefined
  const zero = types.zero?.(apiVersion) ?? {}
  const created = yield* createdSet(withoutManagedFields(next), zero, type, recent.similar(type))
  if (created === undefined) return undefined
  const set = recent.owned(type, created, request.resetFields?.[apiVersion])
  if (set.empty) return []
  const manager = request.manager === '' ? unknownManager : request.manager
  const owned = { set, apiVersion, applied: false }
  const time = now === undefined ? undefined : formatTime(now)
  return [entryOf({ manager, subresource }, owned, { time, fieldsV1: yield* encodeFieldsV1(set) })]
}

/** Updates decoded managedFields; `trackUpdate` without decoding and encoding. */
export function* updateManaged(managed: Managed, request: TrackUpdateRequest<FrozenObject>): Work<Managed> {
  return (yield* changedManagers(managed, request)) ?? emptyManaged
}

/** The managers after an update; `undefined` for an object that does not match its type. */
function* changedManagers(managed: Managed, request: TrackUpdateRequest<FrozenObject>): Work<Managed | undefined> {
  const { live, next, apiVersion, subresource = '', types } = request
  const type = types.typed(apiVersion)
  if (type === undefined) return managed
  const from = live === undefined ? (types.zero?.(apiVersion) ?? {}) : withoutManagedFields(live)
  const manager = request.manager === '' ? unknownManager : request.manager
  const key = managerKey({ manager, operation: 'Update', apiVersion, subresource })
  const to = { value: withoutManagedFields(next), type }
  const current = ''
  const write = { live: { value: from, type }, apiVersion, managers: managed.managers, manager: current }
  let managers: Managed['managers']
  try {
    const comparison = yield* compareTyped(from, to.value, type)
    yield true
    if (ownsChanges({ ...write, manager: key }, comparison, strippedFields, request.resetFields?.[apiVersion])) {
      return yield* capManagers({ ...managed, times: movedTimes(managed, key, request.now) })
    }
    const options = { converter: converterOf(types, apiVersion), ignored: request.resetFields }
    managers = stripMeta(yield* updateManagers(write, to, options, comparison), current)
  } catch (error) {
    if (error instanceof FieldManagerError) return undefined
    throw error
  }
  const taken = managers.get(current)
  if (taken === undefined) return yield* capManagers({ ...managed, managers })
  const out = new Map<string, VersionedSet>(managers)
  out.delete(current)
  const previous = out.get(key)
  out.set(key, previous === undefined ? taken : { ...taken, set: taken.set.union(previous.set) })
  return yield* capManagers({ ...managed, managers: out, times: movedTimes(managed, key, request.now) })
}

/**
 * Whether the list resets ownership: it consists of a single empty entry.
 *
 * @example
 * ```ts
 * import { isResetManagedFields } from '@krmkit/fieldmanager/managed-fields'
 *
 * isResetManagedFields([{}]) // true
 * ```
 */
export function isResetManagedFields(entries: DeepReadonly<ManagedFieldsEntry[]> | null | undefined): boolean {
  return entries?.length === 1 && Object.keys(entries[0] ?? {}).length === 0
}

/** The timestamps of all managers after one of them changed something. */
export function movedTimes({ times }: Managed, key: string, now: number | undefined): ReadonlyMap<string, string> {
  return now === undefined ? times : new Map(times).set(key, formatTime(now))
}

export type Entries = DeepReadonly<ManagedFieldsEntry[]> | undefined

function* decodeLiveOrNext(live: Entries, next: Entries, ignoreNext: boolean): Work<Managed> {
  if (ignoreNext || next === live) return yield* decodeOrEmpty(live)
  if (isResetManagedFields(next)) return emptyManaged
  const managed = yield* decodeOrEmpty(next)
  return managed.managers.size > 0 ? managed : yield* decodeOrEmpty(live)
}

function* decodeOrEmpty(entries: Entries): Work<Managed> {
  try {
    return yield* decodeManagedFields(entries)
  } catch (error) {
    if (error instanceof FieldManagerError) return emptyManaged
    throw error
  }
}
