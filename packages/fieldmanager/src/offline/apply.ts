import type { OptionKinds } from '@krmkit/base/arguments'
import { type ApiObject, isJsonObject, type JsonObject, type JsonValue, type ManagedFieldsEntry } from '@krmkit/meta'
import { requireManager, requireObjects, requireOptions } from '../arguments.ts'
import { FieldManagerError } from '../field-manager-error.ts'
import { applyPatch } from '../managed-fields/apply.direct.ts'
import type { FieldConflict } from '../managed-fields/conflicts.ts'
import { withoutManagedFields } from '../managed-fields/type-converter.ts'
import { type Change, diffObjects } from './diff.ts'
import { type OfflineSchema, typeConverterOf } from './schema.ts'

/** A server-side apply without a server. */
export interface OfflineApplyRequest {
  /** The current object with its managedFields; absent when the object does not exist. */
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
 * Applies a configuration as a server does, without its defaulting, validation and admission. Inputs are not modified. A created object has
 * only the members of its configuration, without those that a server always adds (`status: {}`).
 *
 * @throws FieldManagerError `InvalidApply` and `InvalidObject` for configurations that a server would reject and for a live object of
 * another kind or name, `InvalidArgument` for other invalid arguments.
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
  requireOptions('apply', request, requestMembers)
  const { live, applied, manager, schema, force = false } = request
  requireObjects('apply', live === undefined ? { applied } : { applied, live })
  requireManager('apply', manager)
  const apiVersion = requireIdentity(applied)
  if (live !== undefined) requireSameObject(live, applied)
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

const requestMembers = {
  live: 'any',
  applied: 'any',
  manager: 'any',
  schema: 'any',
  force: 'flag',
  subresource: 'text',
  now: 'number',
} as const satisfies OptionKinds<OfflineApplyRequest>

/** @returns the apiVersion */
function requireIdentity({ apiVersion, kind }: JsonObject): string {
  if (typeof apiVersion !== 'string' || apiVersion === '') throw refusal('the configuration has no apiVersion')
  if (typeof kind !== 'string' || kind === '') throw refusal('the configuration has no kind')
  return apiVersion
}

/** A configuration may leave the name to the live object. */
function requireSameObject(live: JsonObject, applied: JsonObject): void {
  const group = ({ apiVersion }: JsonObject) => String(apiVersion).replace(/(?:^|\/)[^/]*$/, '')
  const same = (name: 'name' | 'namespace') => {
    const [before, after] = [live, applied].map(({ metadata }) => (isJsonObject(metadata) ? metadata[name] : undefined))
    if (before && after && before !== after)
      throw refusal(`the live object has the ${name} ${before}, the configuration ${after}`)
  }
  if (live.kind !== applied.kind || group(live) !== group(applied))
    throw refusal(`the live object is ${typeText(live)}, the configuration ${typeText(applied)}`)
  same('name')
  same('namespace')
}

function typeText({ apiVersion, kind }: JsonObject): string {
  return `${String(apiVersion)} ${String(kind)}`
}

function refusal(message: string): FieldManagerError {
  return new FieldManagerError({ code: 'InvalidApply', message })
}

/** The managedFields of an object. */
export function entriesOf(object: JsonObject): readonly ManagedFieldsEntry[] {
  return (object as unknown as ApiObject).metadata?.managedFields ?? []
}

function plain(object: JsonObject): JsonValue {
  return withoutManagedFields(object as unknown as ApiObject)
}
