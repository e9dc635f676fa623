import type { Work } from '@krmkit/base/work'
import type { ApiObject, DeepReadonly, JsonObject, ManagedFieldsEntry } from '@krmkit/meta'
import { FieldManagerError } from '../field-manager-error.ts'
import type { FieldSet } from '../fieldpath/field-set.ts'
import { conflictsOutside, countConflicts } from '../merge/conflict.ts'
import { type ApplyOutcome, applyConflict, applyManager } from '../merge/updater.ts'
import { mergeTyped } from '../typed/merge.ts'
import type { TypeRef } from '../typed/types.ts'
import { validateValue } from '../typed/validate.ts'
import { validatedFieldSet } from '../typed/validated-field-set.ts'
import { joinErrors } from '../typed/walk.ts'
import { type FieldConflict, fieldConflicts } from './conflicts.ts'
import { decodeManagedFields, emptyManaged, encodeManagedFields, identicalEntries, type Managed } from './entries.ts'
import { lastApplied, lastAppliedAnnotation, lastAppliedManager, takeoverSet, withLastApplied } from './last-applied.ts'
import { managerKey } from './manager-id.ts'
import { RecentCreations } from './recent-creations.ts'
import { strippedFields } from './strip-meta.ts'
import {
  converterOf,
  type FrozenObject,
  type ResetFields,
  type TypeConverter,
  withManagedFields,
  withoutManagedFields,
} from './type-converter.ts'
import { movedTimes, updateManaged } from './update.ts'

/** The manager that owns all fields of an object without managedFields before its first apply. */
export const beforeFirstApplyManager = 'before-first-apply'

/** A server-side apply. */
export interface ApplyPatchRequest {
  /** The stored object in `apiVersion`; absent when the apply creates it. */
  readonly live?: FrozenObject | undefined
  /** The applied configuration as sent: only members that the client named and the type knows. Not modified. */
  readonly applied: FrozenObject
  readonly manager: string
  /** Whether to take over conflicting fields of other managers. */
  readonly force: boolean
  /** Maximum number of conflicts listed; unlimited by default. */
  readonly maxConflicts?: number | undefined
  readonly apiVersion: string
  readonly subresource?: string | undefined
  readonly resetFields?: ResetFields | undefined
  /** Milliseconds since the epoch; when absent, timestamps are kept. */
  readonly now?: number | undefined
  readonly types: TypeConverter
  /** Annotation of client-side apply; `kubectl.kubernetes.io/last-applied-configuration` by default. */
  readonly lastAppliedAnnotation?: string | undefined
}

export type ApplyResult =
  | {
      readonly kind: 'applied'
      /**
       * The object with its managedFields. Member order is unspecified, members may be null, and unchanged parts are shared with
       * the live object: decode or copy before mutation. The live object itself when nothing changes.
       */
      readonly object: ApiObject
      /** False when only managedFields change, or nothing. */
      readonly changed: boolean
    }
  | FieldConflicts

export interface FieldConflicts {
  readonly kind: 'conflict'
  readonly conflicts: readonly FieldConflict[]
  /** Number of conflicts, including those beyond `maxConflicts`. */
  readonly total: number
}

/** A successful apply, with separate object and managedFields. */
export interface AppliedParts {
  readonly kind: 'applied'
  /** The object without managedFields; the same restrictions as for `ApplyResult.object`. */
  readonly value: JsonObject
  /**
   * Where the content comes from: unchanged from the live object, only from the applied configuration (plus the zero members of its type),
   * or from both.
   */
  readonly content: 'live' | 'applied' | 'joined'
  /** The live object's own list when ownership does not change; absent when no field is owned. */
  readonly managedFields: DeepReadonly<ManagedFieldsEntry[]> | undefined
  readonly changed: boolean
}

export type ApplyParts = AppliedParts | FieldConflicts

/**
 * Server-side apply: merges the applied configuration into the live object and records field ownership.
 *
 * @throws FieldManagerError `InvalidApply` when the body has managedFields or another version, `InvalidObject` when the body does not match
 * its type (unknown members, items without keys, duplicates), `InvalidManagedFields` when stored managedFields cannot be decoded.
 * @see API protocol specification, 4.7
 * @example
 * ```ts
 * import { applyPatch } from '@krmkit/fieldmanager'
 * import { deducedTypeConverter as types } from '@krmkit/fieldmanager/managed-fields'
 *
 * const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop' }, data: { color: 'blue' } }
 * const result = applyPatch({ applied, manager: 'ci', force: false, apiVersion: 'v1', types })
 * if (result.kind === 'applied') result.object.metadata.managedFields?.[0]?.manager // 'ci'
 * ```
 */
export function* applyPatch(request: ApplyPatchRequest): Work<ApplyResult> {
  const parts = yield* applyParts(request)
  if (parts.kind === 'conflict') return parts
  const { value, content, managedFields, changed } = parts
  const { live } = request
  const object =
    live !== undefined && content === 'live' && managedFields === live.metadata?.managedFields
      ? (live as ApiObject)
      : withManagedFields(value as unknown as ApiObject, managedFields as unknown as JsonObject[] | undefined)
  return { kind: 'applied', object, changed }
}

/**
 * Like {@link applyPatch}, for callers that decode and default the result: `content` shows which of this work they can skip.
 *
 * @throws as `applyPatch`
 * @example
 * ```ts
 * import { applyParts, deducedTypeConverter as types } from '@krmkit/fieldmanager/managed-fields'
 *
 * const live = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop' }, data: { color: 'blue' } }
 * const parts = applyParts({ live, applied: live, manager: 'ci', force: false, apiVersion: 'v1', types })
 * if (parts.kind === 'applied') parts.content // 'live'
 * ```
 */
export function* applyParts(request: ApplyPatchRequest): Work<ApplyParts> {
  const configuration = yield* checkApplied(request)
  yield true
  return request.live === undefined
    ? yield* createObject(request, configuration)
    : yield* changeObject(request, request.live, configuration)
}

export interface CheckedConfiguration {
  readonly type: TypeRef
  /** The fields of the applied configuration. */
  readonly appliedSet: FieldSet
}

export const recent = new RecentCreations()

/** Creates the object. Without a live object there are neither conflicts nor fields to remove. */
function* createObject(request: ApplyPatchRequest, { type, appliedSet }: CheckedConfiguration): Work<AppliedParts> {
  const { apiVersion, types, subresource = '' } = request
  const key = managerKey({ manager: request.manager, operation: 'Apply', apiVersion: '', subresource })
  const zero = types.zero?.(apiVersion) ?? {}
  const value = (yield* mergeTyped(zero, request.applied as unknown as JsonObject, type, { checked: true })) as JsonObject
  yield true
  const set = recent.owned(type, appliedSet, request.resetFields?.[apiVersion])
  const managers = set.empty ? emptyManaged.managers : new Map([[key, { set, apiVersion, applied: true }]])
  yield true
  const entries = yield* encodeManagedFields({ managers, times: movedTimes(emptyManaged, key, request.now) })
  const annotated = withAnnotation(request, value)
  return {
    kind: 'applied',
    value: annotated,
    content: annotated === value ? 'applied' : 'joined',
    managedFields: entries.length === 0 ? undefined : entries,
    changed: true,
  }
}

function* changeObject(
  request: ApplyPatchRequest,
  live: FrozenObject,
  { type, appliedSet }: CheckedConfiguration,
): Work<ApplyParts> {
  const { applied, apiVersion, types, manager, subresource = '' } = request
  const value = withoutManagedFields(live)
  const managed = yield* storedManagers(request, live)
  const key = managerKey({ manager, operation: 'Apply', apiVersion: '', subresource })
  const write = { live: { value, type }, apiVersion, managers: managed.managers, manager: key }
  const options = {
    converter: converterOf(types, apiVersion),
    ignored: request.resetFields,
    appliedSet,
    unowned: strippedFields,
    maxConflicts: request.maxConflicts,
  }
  const config = { value: applied as unknown as JsonObject, type }
  let outcome: ApplyOutcome = yield* applyManager(write, config, request.force, options)
  if (outcome.kind === 'conflict' && manager === lastAppliedManager) {
    const allowed = takeoverSet(value, type, apiVersion, annotationOf(request))
    if (allowed !== undefined) {
      const taken = conflictsOutside(outcome.taken, allowed)
      if (taken.size === 0) outcome = yield* applyManager(write, config, true, options)
      else outcome = applyConflict(taken, request.maxConflicts)
    }
  }
  if (outcome.kind === 'conflict')
    return { kind: 'conflict', conflicts: fieldConflicts(outcome.conflicts), total: countConflicts(outcome.taken) }
  const changed = outcome.object !== undefined
  const merged = withAnnotation(request, (outcome.object?.value ?? value) as JsonObject)
  const { managers } = outcome
  const content = merged === value ? 'live' : 'joined'
  const stored = live.metadata?.managedFields
  // Fast path: most applies of controllers change nothing.
  if (!changed && managers === managed.managers)
    return { kind: 'applied', value: merged, content, managedFields: stored, changed }
  const times = changed ? movedTimes(managed, key, request.now) : managed.times
  const managedFields = entriesAfter(stored, yield* encodeManagedFields({ ...managed, managers, times }))
  return { kind: 'applied', value: merged, content, managedFields, changed }
}

/** Keeps the last-applied annotation up to date for applies of kubectl. */
export function withAnnotation(request: ApplyPatchRequest, object: JsonObject): JsonObject {
  if (request.manager !== lastAppliedManager) return object
  const annotation = annotationOf(request)
  return lastApplied(object, annotation) === ''
    ? object
    : withLastApplied(object, request.applied as unknown as JsonObject, annotation)
}

export function annotationOf({ lastAppliedAnnotation: given }: ApplyPatchRequest): string {
  return given ?? lastAppliedAnnotation
}

export function entriesAfter(
  stored: AppliedParts['managedFields'],
  entries: ManagedFieldsEntry[],
): AppliedParts['managedFields'] {
  if (identicalEntries(stored, entries)) return stored
  return entries.length === 0 ? undefined : entries
}

function* checkApplied(request: ApplyPatchRequest): Work<CheckedConfiguration> {
  const { applied, apiVersion, types } = request
  if (applied.apiVersion !== apiVersion) {
    throw new FieldManagerError({
      code: 'InvalidApply',
      message: `Incorrect version specified in apply patch. Specified patch version: ${applied.apiVersion}, expected: ${apiVersion}`,
    })
  }
  const entries: unknown = applied.metadata?.managedFields
  if (entries !== undefined && entries !== null)
    throw new FieldManagerError({ code: 'InvalidApply', message: 'metadata.managedFields must be nil' })
  const type = types.typed(apiVersion)
  if (type === undefined) throw new FieldManagerError({ code: 'MissingVersion', message: `no type for version ${apiVersion}` })
  const value = applied as unknown as JsonObject
  const appliedSet = yield* validatedFieldSet(value, type, yield* lastAppliedSet(request))
  if (appliedSet !== undefined) return { type, appliedSet }
  const errors = yield* validateValue(value, type)
  const about = `${applied.metadata?.namespace ?? ''}/${applied.metadata?.name ?? ''}; ${apiVersion}, Kind=${applied.kind}`
  throw new FieldManagerError({
    code: 'InvalidObject',
    message: `failed to create typed patch object (${about}): ${joinErrors(errors)}`,
    errors,
  })
}

/**
 * A set that probably equals the fields of the configuration: the fields that the manager applied last time, or those of the last created
 * object.
 */
function* lastAppliedSet(request: ApplyPatchRequest): Work<FieldSet | undefined> {
  const { live, manager, subresource = '', apiVersion, types } = request
  if (live === undefined) {
    const type = types.typed(apiVersion)
    return type === undefined ? undefined : recent.similar(type)
  }
  const { managers } = yield* decodeManagedFields(live.metadata?.managedFields)
  return managers.get(managerKey({ manager, operation: 'Apply', apiVersion: '', subresource }))?.set
}

/** Stored managedFields; without any, `before-first-apply` owns the object. */
function* storedManagers(request: ApplyPatchRequest, live: FrozenObject): Work<Managed> {
  const managed = yield* decodeManagedFields(live.metadata?.managedFields)
  if (managed.managers.size > 0) return managed
  return yield* updateManaged(managed, { ...request, live: undefined, next: live, manager: beforeFirstApplyManager })
}
