import type { ApiObject, JsonObject } from '@krmkit/meta'
import { FieldManagerError } from '../errors.ts'
import { conflictSet } from '../merge/conflict.ts'
import type { ApplyOutcome } from '../merge/updater.ts'
import { applyManager } from '../merge/updater.ts'
import type { TypeRef } from '../typed/types.ts'
import { validateValue } from '../typed/validate.ts'
import { joinErrors } from '../typed/walk.ts'
import type { FieldConflict } from './conflicts.ts'
import { fieldConflicts } from './conflicts.ts'
import { converterOf } from './converter.ts'
import type { Managed } from './entries.ts'
import { decodeManaged, encodeManaged, identicalEntries } from './entries.ts'
import { annotationManager, lastApplied, lastAppliedAnnotation, takeoverSet, withLastApplied } from './last-applied.ts'
import { managerKey } from './manager-id.ts'
import { stripMeta } from './strip.ts'
import type { FrozenObject, ManagedTypes, ResetFields } from './types.ts'
import { withManagedFields, withoutManagedFields } from './types.ts'
import { movedTimes, updateManaged } from './update.ts'

/** Manager that owns everything of an object that nobody owned before its first apply. */
export const firstApplyManager = 'before-first-apply'

/** A server-side apply. */
export interface ApplyRequest {
  /** The stored object at `apiVersion`; absent when the apply creates it. */
  readonly live?: FrozenObject | undefined
  /** What the manager wants, as sent: without members that it did not name, and of known members only. Not changed. */
  readonly applied: FrozenObject
  readonly manager: string
  /** Takes over what others own. */
  readonly force: boolean
  readonly apiVersion: string
  readonly subresource?: string | undefined
  readonly resetFields?: ResetFields | undefined
  /** Milliseconds since the epoch; without it, times are left as they are. */
  readonly now?: number | undefined
  readonly types: ManagedTypes
  /** Annotation of client-side apply; the stock one by default. */
  readonly lastAppliedAnnotation?: string | undefined
}

export type ApplyResult =
  | {
      readonly kind: 'applied'
      /**
       * The object with its owners. Members may stand in any order, may be null, and unchanged parts are shared with the live
       * object: decode or copy before changing anything. The live object itself when neither it nor its owners change.
       */
      readonly object: ApiObject
      /** False when only owners change, or nothing. */
      readonly changed: boolean
    }
  | { readonly kind: 'conflict'; readonly conflicts: readonly FieldConflict[] }

/**
 * Joins what a manager wants with the live object, and records who owns what.
 *
 * @throws FieldManagerError `InvalidApply` when the body carries owners or has another version, `InvalidObject` when it does
 * not fit its type (unknown members, items without keys, duplicates), `InvalidManagedFields` when stored owners cannot be
 * read.
 * @see API protocol specification, 4.7
 */
export function applyPatch(request: ApplyRequest): ApplyResult {
  const { live, applied, apiVersion, types, manager, subresource = '' } = request
  const type = checkApplied(request)
  const annotation = request.lastAppliedAnnotation ?? lastAppliedAnnotation
  const value = live === undefined ? (types.zero?.(apiVersion) ?? {}) : withoutManagedFields(live)
  const managed = ownedBefore(request)
  const key = managerKey({ manager, operation: 'Apply', apiVersion: '', subresource })
  const write = { live: { value, type }, apiVersion, managers: managed.managers, manager: key }
  const options = { converter: converterOf(types), ignored: request.resetFields }
  const config = { value: applied as unknown as JsonObject, type }
  let outcome: ApplyOutcome = applyManager(write, config, request.force, options)
  if (outcome.kind === 'conflict' && manager === annotationManager) {
    const allowed = takeoverSet(value, type, apiVersion, annotation)
    if (allowed !== undefined) {
      const { conflicts } = outcome
      if (conflictSet(conflicts).difference(allowed).empty) outcome = applyManager(write, config, true, options)
      else outcome = { kind: 'conflict', conflicts: conflicts.filter(({ path }) => !allowed.has(path)) }
    }
  }
  if (outcome.kind === 'conflict') return { kind: 'conflict', conflicts: fieldConflicts(outcome.conflicts) }
  const changed = outcome.object !== undefined
  const times = changed ? movedTimes(managed, key, request.now) : managed.times
  let object = (outcome.object?.value ?? value) as JsonObject
  const annotated = manager === annotationManager && lastApplied(object, annotation) !== ''
  if (annotated) object = withLastApplied(object, applied as unknown as JsonObject, annotation)
  return {
    kind: 'applied',
    object: finish(request, object, {
      ...managed,
      managers: stripMeta(outcome.managers, key, managed.managers.get(key)?.set),
      times,
    }),
    changed,
  }
}

function checkApplied({ applied, apiVersion, types }: ApplyRequest): TypeRef {
  if (applied.apiVersion !== apiVersion) {
    throw new FieldManagerError(
      'InvalidApply',
      `Incorrect version specified in apply patch. Specified patch version: ${applied.apiVersion}, expected: ${apiVersion}`,
    )
  }
  const entries: unknown = applied.metadata?.managedFields
  if (entries !== undefined && entries !== null) throw new FieldManagerError('InvalidApply', 'metadata.managedFields must be nil')
  const type = types.typed(apiVersion)
  if (type === undefined) throw new FieldManagerError('MissingVersion', `no type for version ${apiVersion}`)
  const errors = validateValue(applied as unknown as JsonObject, type)
  if (errors.length > 0) {
    const about = `${applied.metadata?.namespace ?? ''}/${applied.metadata?.name ?? ''}; ${apiVersion}, Kind=${applied.kind}`
    throw new FieldManagerError('InvalidObject', `failed to create typed patch object (${about}): ${joinErrors(errors)}`, {
      errors,
    })
  }
  return type
}

/** Stored owners; an object that has none belongs to `before-first-apply`. */
function ownedBefore(request: ApplyRequest): Managed {
  const { live } = request
  const managed = decodeManaged(live?.metadata?.managedFields)
  if (live === undefined || managed.managers.size > 0) return managed
  return updateManaged(managed, { ...request, live: undefined, next: live, manager: firstApplyManager })
}

function finish({ live }: ApplyRequest, object: JsonObject, managed: Managed): ApiObject {
  const entries = encodeManaged(managed)
  const stored = live?.metadata?.managedFields
  if (live !== undefined && (identicalEntries(stored, entries) || (stored === undefined && entries.length === 0))) {
    if (object === (live as unknown) || sameButOwners(object, live)) return live as ApiObject
    return withManagedFields(object as unknown as ApiObject, stored as unknown as JsonObject[] | undefined)
  }
  return withManagedFields(
    object as unknown as ApiObject,
    entries.length === 0 ? undefined : (entries as unknown as JsonObject[]),
  )
}

/** True when the object is the live one with its owners taken off. */
function sameButOwners(object: JsonObject, live: FrozenObject): boolean {
  for (const key in object) {
    if (key !== 'metadata' && object[key] !== (live as unknown as JsonObject)[key]) return false
  }
  const metadata = object.metadata as JsonObject
  const own = live.metadata as unknown as JsonObject
  for (const key in metadata) if (metadata[key] !== own[key]) return false
  return Object.keys(live).length === Object.keys(object).length
}
