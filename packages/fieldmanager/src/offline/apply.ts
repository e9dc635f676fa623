import type { ApiObject, JsonObject, JsonValue, ManagedFieldsEntry } from '@krmkit/meta'
import { FieldManagerError } from '../errors.ts'
import { applyPatch } from '../managed-fields/apply.ts'
import type { FieldConflict } from '../managed-fields/conflicts.ts'
import { withoutManagedFields } from '../managed-fields/types.ts'
import type { Change } from './diff.ts'
import { diff } from './diff.ts'
import type { OfflineSchema } from './schema.ts'
import { typesOf } from './schema.ts'

/** A server-side apply without a server. */
export interface OfflineApply {
  /** The object as it is, with its managedFields; absent when it does not exist. */
  readonly live?: JsonObject | undefined
  readonly applied: JsonObject
  readonly manager: string
  readonly schema?: OfflineSchema
  readonly force?: boolean
  readonly subresource?: string
  /** Milliseconds since the epoch, for the time of the manager; without it times are left as they are. */
  readonly now?: number
}

export interface OfflineApplied {
  /** The object afterwards; the live one when there are conflicts. */
  readonly object: JsonObject
  readonly managedFields: readonly ManagedFieldsEntry[]
  /** Empty when the apply went through. */
  readonly conflicts: readonly FieldConflict[]
  /** What differs from the live object, owners aside. */
  readonly changes: readonly Change[]
}

/**
 * Applies a configuration as a server would, without its defaults, validation and admission. Nothing given is changed.
 *
 * @throws FieldManagerError `InvalidApply` and `InvalidObject` for configurations that a server would refuse.
 */
export function apply(request: OfflineApply): OfflineApplied {
  const { live, applied, manager, schema, force = false } = request
  const { apiVersion } = applied
  if (typeof apiVersion !== 'string') throw new FieldManagerError('InvalidApply', 'the configuration has no apiVersion')
  const result = applyPatch({
    live: live as unknown as ApiObject | undefined,
    applied: applied as unknown as ApiObject,
    manager,
    force,
    apiVersion,
    subresource: request.subresource,
    now: request.now,
    types: typesOf(schema),
  })
  if (result.kind === 'conflict') {
    const object = live ?? {}
    return { object, managedFields: entriesOf(object), conflicts: result.conflicts, changes: [] }
  }
  const object = result.object as unknown as JsonObject
  return { object, managedFields: entriesOf(object), conflicts: [], changes: diff(plain(live ?? {}), plain(object), schema) }
}

/** Owners that an object carries. */
export function entriesOf(object: JsonObject): readonly ManagedFieldsEntry[] {
  return (object as unknown as ApiObject).metadata?.managedFields ?? []
}

function plain(object: JsonObject): JsonValue {
  return withoutManagedFields(object as unknown as ApiObject)
}
