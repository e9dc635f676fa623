import type { ApiObject, JsonObject, JsonValue, ManagedFieldsEntry } from '@krmkit/meta'
import { FieldManagerError } from '../field-manager-error.ts'
import { applyPatch } from '../managed-fields/apply.ts'
import type { FieldConflict } from '../managed-fields/conflicts.ts'
import { withoutManagedFields } from '../managed-fields/type-converter.ts'
import type { Change } from './diff.ts'
import { diffObjects } from './diff.ts'
import type { OfflineSchema } from './schema.ts'
import { typeConverterOf } from './schema.ts'

/** A server-side apply without a server. */
export interface OfflineApplyRequest {
  /** The current object with its managedFields; absent when it does not exist. */
  readonly live?: JsonObject | undefined
  readonly applied: JsonObject
  readonly manager: string
  readonly schema?: OfflineSchema
  readonly force?: boolean
  readonly subresource?: string
  /** Timestamp of the manager, in milliseconds since the epoch; when absent, timestamps are kept. */
  readonly now?: number
}

export interface OfflineApplyResult {
  /** The resulting object; the live object when there are conflicts. */
  readonly object: JsonObject
  readonly managedFields: readonly ManagedFieldsEntry[]
  /** Empty when the apply succeeded. */
  readonly conflicts: readonly FieldConflict[]
  /** Differences from the live object, except managedFields. */
  readonly changes: readonly Change[]
}

/**
 * Applies a configuration as a server does, without its defaulting, validation and admission. Inputs are not modified.
 *
 * @throws FieldManagerError `InvalidApply` and `InvalidObject` for configurations that a server would reject.
 * @example
 * ```ts
 * import { apply } from '@krmkit/fieldmanager'
 *
 * const config = (color: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop' }, data: { color } })
 * const live = apply({ applied: config('blue'), manager: 'ci' }).object
 * apply({ live, applied: config('red'), manager: 'jane' }).conflicts.map(({ field, message }) => `${field}: ${message}`)
 * // ['.data.color: conflict with "ci"']
 * ```
 */
export function apply(request: OfflineApplyRequest): OfflineApplyResult {
  const { live, applied, manager, schema, force = false } = request
  const { apiVersion } = applied
  if (typeof apiVersion !== 'string')
    throw new FieldManagerError({ code: 'InvalidApply', message: 'the configuration has no apiVersion' })
  const result = applyPatch({
    live: live as unknown as ApiObject | undefined,
    applied: applied as unknown as ApiObject,
    manager,
    force,
    apiVersion,
    subresource: request.subresource,
    now: request.now,
    types: typeConverterOf(schema),
  })
  if (result.kind === 'conflict') {
    const object = live ?? {}
    return { object, managedFields: entriesOf(object), conflicts: result.conflicts, changes: [] }
  }
  const object = result.object as unknown as JsonObject
  return {
    object,
    managedFields: entriesOf(object),
    conflicts: [],
    changes: diffObjects(plain(live ?? {}), plain(object), schema),
  }
}

/** The managedFields of an object. */
export function entriesOf(object: JsonObject): readonly ManagedFieldsEntry[] {
  return (object as unknown as ApiObject).metadata?.managedFields ?? []
}

function plain(object: JsonObject): JsonValue {
  return withoutManagedFields(object as unknown as ApiObject)
}
