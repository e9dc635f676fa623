import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { invalidArgument } from '../arguments.ts'
import { FieldSet } from '../fieldpath/field-set.ts'
import type { FieldConflict } from '../managed-fields/conflicts.ts'
import { mergeTyped } from '../typed/merge.direct.ts'
import { extractItems, removeItems } from '../typed/remove.ts'
import { apply, entriesOf, type OfflineApplyRequest, type OfflineApplyResult } from './apply.ts'
import { type OfflineSchema, typeOf } from './schema.ts'
import { valueAt } from './value-at.ts'

/** Resolutions of a conflict: take over the fields, stop applying them, or apply their live values. */
export type Resolution = 'force' | 'abandon' | 'share'

export interface ConflictExplanation {
  readonly field: string
  readonly manager: string
  readonly operation: string
  readonly subresource: string
  /** RFC 3339 timestamp of the owner's last change to the object. */
  readonly since?: string
  /** The live value. */
  readonly live?: JsonValue
  /** The applied value. */
  readonly wanted?: JsonValue
  /** One sentence per resolution. */
  readonly resolutions: Readonly<Record<Resolution, string>>
}

/**
 * Explains a conflict and its resolutions.
 *
 * @example
 * ```ts
 * import { apply, explainConflict } from '@krmkit/fieldmanager'
 *
 * const config = (color: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop' }, data: { color } })
 * const live = apply({ applied: config('blue'), manager: 'ci' }).object
 * const [conflict] = apply({ live, applied: config('red'), manager: 'jane' }).conflicts
 * explainConflict(conflict!, { live, applied: config('red') }).resolutions.abandon
 * // 'Leave .data.color out of the configuration: ci stays its only owner.'
 * ```
 */
export function explainConflict(
  conflict: FieldConflict,
  { live, applied, schema }: { live: JsonObject; applied: JsonObject; schema?: OfflineSchema },
): ConflictExplanation {
  const type = typeOf(schema)
  const { field, manager, operation, subresource, path } = conflict
  const entry = entriesOf(live).find(
    (each) => (each.manager ?? '') === manager && each.operation === operation && (each.subresource ?? '') === subresource,
  )
  const current = valueAt(live, path, type)
  const wanted = valueAt(applied, path, type)
  return {
    field,
    manager,
    operation,
    subresource,
    ...(entry?.time === undefined ? {} : { since: entry.time }),
    ...(current === undefined ? {} : { live: current }),
    ...(wanted === undefined ? {} : { wanted }),
    resolutions: {
      force: `Apply with force: ${field} becomes yours, and ${manager} no longer owns it.`,
      abandon: `Leave ${field} out of the configuration: ${manager} stays its only owner.`,
      share: `Put the value that ${field} has now into the configuration: you and ${manager} own it together.`,
    },
  }
}

export interface Preview extends OfflineApplyResult {
  /** The applied configuration after the resolution. */
  readonly applied: JsonObject
}

/**
 * Previews an apply with all conflicts resolved by one resolution.
 *
 * @example
 * ```ts
 * import { apply, preview } from '@krmkit/fieldmanager'
 *
 * const config = (color: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop' }, data: { color } })
 * const live = apply({ applied: config('blue'), manager: 'ci' }).object
 * preview({ live, applied: config('red'), manager: 'jane' }, 'share').object.data // { color: 'blue' }
 * ```
 */
export function preview(request: OfflineApplyRequest, resolution: Resolution): Preview {
  if (!['force', 'abandon', 'share'].includes(resolution))
    throw invalidArgument(`preview: the resolution is force, abandon or share, not ${JSON.stringify(resolution)}`)
  const first = apply({ ...request, force: false })
  if (first.conflicts.length === 0) return { ...first, applied: request.applied }
  const applied = resolution === 'force' ? request.applied : resolved(request, first.conflicts, resolution)
  return { ...apply({ ...request, applied, force: resolution === 'force' }), applied }
}

function resolved(
  { live = {}, applied, schema }: OfflineApplyRequest,
  conflicts: readonly FieldConflict[],
  resolution: Resolution,
): JsonObject {
  const type = typeOf(schema)
  const set = FieldSet.of(...conflicts.map(({ path }) => path))
  const rest = withoutEmptied(applied, removeItems(applied, set, type))
  if (resolution === 'abandon') return rest
  const shared = extractItems(live, set, type, { appendKeyFields: true })
  return (mergeTyped(rest, shared ?? undefined, type) ?? rest) as JsonObject
}

/** Drops members that became null because everything below them was removed. */
function withoutEmptied(before: JsonObject, after: JsonValue): JsonObject {
  const out: JsonObject = {}
  if (!isJsonObject(after)) return out
  for (const key of Object.keys(after)) {
    const own = before[key] as JsonValue
    const kept = after[key] as JsonValue
    if (kept === own) setMember(out, key, own)
    else if (isJsonObject(own) && isJsonObject(kept)) {
      const rest = withoutEmptied(own, kept)
      if (Object.keys(rest).length > 0) setMember(out, key, rest)
    } else if (kept !== null) setMember(out, key, kept)
  }
  return out
}
