// Derived from apply.ts by `npm run direct`: do not edit.

import type { ApiObject, JsonObject } from '@krmkit/meta'
import { FieldManagerError } from '../field-manager-error.ts'
import type { FieldSet } from '../fieldpath/field-set.ts'
import { conflictsOutside, countConflicts } from '../merge/conflict.ts'
import { applyManager } from '../merge/updater.direct.ts'
import { type ApplyOutcome, applyConflict } from '../merge/updater.ts'
import { mergeTyped } from '../typed/merge.direct.ts'
import { validateValue } from '../typed/validate.direct.ts'
import { validatedFieldSet } from '../typed/validated-field-set.direct.ts'
import { joinErrors } from '../typed/walk.ts'
import {
  type AppliedParts,
  type ApplyParts,
  type ApplyPatchRequest,
  type ApplyResult,
  annotationOf,
  beforeFirstApplyManager,
  type CheckedConfiguration,
  entriesAfter,
  recent,
  withAnnotation,
} from './apply.ts'
import { fieldConflicts } from './conflicts.ts'
import { decodeManagedFields, encodeManagedFields } from './entries.direct.ts'
import { emptyManaged, type Managed } from './entries.ts'
import { lastAppliedManager, takeoverSet } from './last-applied.ts'
import { managerKey } from './manager-id.ts'
import { strippedFields } from './strip-meta.ts'
import { converterOf, type FrozenObject, withManagedFields, withoutManagedFields } from './type-converter.ts'
import { updateManaged } from './update.direct.ts'
import { movedTimes } from './update.ts'

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
export function applyPatch(request: ApplyPatchRequest): ApplyResult {
  const parts = applyParts(request)
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
export function applyParts(request: ApplyPatchRequest): ApplyParts {
  const configuration = checkApplied(request)

  return request.live === undefined ? createObject(request, configuration) : changeObject(request, request.live, configuration)
}

/** Creates the object. Without a live object there are neither conflicts nor fields to remove. */
function createObject(request: ApplyPatchRequest, { type, appliedSet }: CheckedConfiguration): AppliedParts {
  const { apiVersion, types, subresource = '' } = request
  const key = managerKey({ manager: request.manager, operation: 'Apply', apiVersion: '', subresource })
  const zero = types.zero?.(apiVersion) ?? {}
  const value = mergeTyped(zero, request.applied as unknown as JsonObject, type, { checked: true }) as JsonObject

  const set = recent.owned(type, appliedSet, request.resetFields?.[apiVersion])
  const managers = set.empty ? emptyManaged.managers : new Map([[key, { set, apiVersion, applied: true }]])

  const entries = encodeManagedFields({ managers, times: movedTimes(emptyManaged, key, request.now) })
  const annotated = withAnnotation(request, value)
  return {
    kind: 'applied',
    value: annotated,
    content: annotated === value ? 'applied' : 'joined',
    managedFields: entries.length === 0 ? undefined : entries,
    changed: true,
  }
}

function changeObject(request: ApplyPatchRequest, live: FrozenObject, { type, appliedSet }: CheckedConfiguration): ApplyParts {
  const { applied, apiVersion, types, manager, subresource = '' } = request
  const value = withoutManagedFields(live)
  const managed = storedManagers(request, live)
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
  let outcome: ApplyOutcome = applyManager(write, config, request.force, options)
  if (outcome.kind === 'conflict' && manager === lastAppliedManager) {
    const allowed = takeoverSet(value, type, apiVersion, annotationOf(request))
    if (allowed !== undefined) {
      const taken = conflictsOutside(outcome.taken, allowed)
      if (taken.size === 0) outcome = applyManager(write, config, true, options)
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
  const managedFields = entriesAfter(stored, encodeManagedFields({ ...managed, managers, times }))
  return { kind: 'applied', value: merged, content, managedFields, changed }
}

function checkApplied(request: ApplyPatchRequest): CheckedConfiguration {
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
  const appliedSet = validatedFieldSet(value, type, lastAppliedSet(request))
  if (appliedSet !== undefined) return { type, appliedSet }
  const errors = validateValue(value, type)
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
function lastAppliedSet(request: ApplyPatchRequest): FieldSet | undefined {
  const { live, manager, subresource = '', apiVersion, types } = request
  if (live === undefined) {
    const type = types.typed(apiVersion)
    return type === undefined ? undefined : recent.similar(type)
  }
  const { managers } = decodeManagedFields(live.metadata?.managedFields)
  return managers.get(managerKey({ manager, operation: 'Apply', apiVersion: '', subresource }))?.set
}

/** Stored managedFields; without any, `before-first-apply` owns the object. */
function storedManagers(request: ApplyPatchRequest, live: FrozenObject): Managed {
  const managed = decodeManagedFields(live.metadata?.managedFields)
  if (managed.managers.size > 0) return managed
  return updateManaged(managed, { ...request, live: undefined, next: live, manager: beforeFirstApplyManager })
}
