import { isLargeValue, runInLaterTurns } from '@krmkit/base/work'
import { conflictError, FieldManagerError } from '@krmkit/fieldmanager'
import { type AppliedParts, type ApplyParts, applyParts } from '@krmkit/fieldmanager/managed-fields'
import * as pacedFields from '@krmkit/fieldmanager/paced'
import { missingErrors, newlyMissing } from '@krmkit/kinds/strategies'
import { ApiError, type ApiObject, type FieldError, formatApiVersion, type JsonValue } from '@krmkit/meta'
import { DecodedSize, decode } from '@krmkit/schema'
import * as pacedSchema from '@krmkit/schema/paced'
import type { AppliedConfiguration, ApplyRequest, FrozenObject, UpdateResult, WriteContext } from '../interfaces.ts'
import { groupResource, type StoreInternals } from '../internals.ts'
import { setManagedFields } from '../ownership/field-ownership.ts'
import { decodeRefusal } from '../versions/refusals.ts'
import { toVersion } from '../versions/to-version.direct.ts'
import { requiredMembersOf, toStorageVersion } from '../versions/version-conversion.ts'
import { updateObject } from './update.ts'
import { maxObjectBytesByDefault } from './write-entry.ts'

/**
 * Applies a configuration: merges it into the current object by field ownership, and stores the result.
 *
 * @throws ApiError 400, 404, 409 (conflicts, or a uid without an object), 413, 422.
 * @see API protocol specification, 4.7
 */
export function applyObject(store: StoreInternals, context: WriteContext, request: ApplyRequest): Promise<UpdateResult> {
  const { configuration, force, ...target } = request
  let missing: readonly FieldError[] = []
  return updateObject(store, context, {
    managesFields: true,
    async change(current) {
      const live = current === undefined ? undefined : toVersion(current, store.definition)
      const applied = await configuration(live !== undefined)
      const result = await merged(store, context, request, { current, live, applied })
      missing = result.missing
      return result.object
    },
    missing: () => missing,
    ...target,
  })
}

/** An applied configuration and the object that it is applied to. */
interface Application {
  /** In the storage version. */
  readonly current: FrozenObject | undefined
  /** In the version of the request. */
  readonly live: FrozenObject | undefined
  readonly applied: AppliedConfiguration
}

interface MergedObject {
  readonly object: ApiObject | FrozenObject
  /** Errors for required members that the merged object lacks. */
  readonly missing: readonly FieldError[]
}

async function merged(
  store: StoreInternals,
  context: WriteContext,
  { force, subresource, name }: ApplyRequest,
  { current, live, applied }: Application,
): Promise<MergedObject> {
  const { definition } = store
  const { sent, object } = applied
  if (current === undefined && applied.unnamed === true) refuseUid(store, name, sent)
  const merge = { live, applied: sent, force, subresource }
  if (object instanceof ApiError) throw await refusalOf(store, context, merge, applied.warnings, object)
  const { value, content, managedFields } = await applyToObject(store, context, merge)
  for (const text of applied.warnings ?? []) context.warn(text)
  if (current !== undefined && content === 'live' && managedFields === live?.metadata.managedFields)
    return { object: current, missing: [] }
  const required = requiredMembersOf(definition, subresource)
  const missing = newlyMissing(missingErrors(content === 'applied' ? sent : value, required), live, required)
  const next = content === 'applied' ? object : await decodeMerged(store, value)
  if ((next.metadata.name ?? '') === '') throw nameless(name)
  setManagedFields(next, managedFields)
  if (current === undefined) refuseUid(store, name, next)
  return { object: await toStorageVersion(store, next), missing }
}

/** The error for a configuration that cannot be decoded; conflicts with other managers are reported first. */
async function refusalOf(
  store: StoreInternals,
  context: WriteContext,
  merge: Merge,
  warnings: readonly string[] = [],
  refusal: ApiError,
): Promise<ApiError> {
  const conflict = await conflictOf(store, context, merge)
  if (conflict !== undefined) return conflict
  for (const text of warnings) context.warn(text)
  return refusal
}

/** The conflict error of an apply; `undefined` when there are no conflicts. */
async function conflictOf(store: StoreInternals, context: WriteContext, merge: Merge): Promise<ApiError | undefined> {
  if (merge.live === undefined) return undefined
  try {
    await applyToObject(store, context, merge)
    return undefined
  } catch (error) {
    // Other errors of the merge are dropped: the configuration is refused because it cannot be decoded.
    if (error instanceof ApiError) return error.reason === 'Conflict' ? error : undefined
    throw error
  }
}

interface Merge {
  /** The stored object in the version of the request; `undefined` when the apply creates it. */
  readonly live: FrozenObject | undefined
  readonly applied: FrozenObject
  readonly force: boolean
  readonly subresource: string
}

/** Conflicts listed one by one in the error; further ones are only counted. */
const maxConflicts = 1000

/**
 * Merges an applied configuration into the live object, both in the version of the request.
 *
 * @returns the merged value without its managedFields; the value must be decoded before it is mutated.
 * @throws ApiError 400 for a configuration that cannot be applied, 409 for conflicts, 500 for an object that cannot be converted to the
 * version of one of its managers.
 */
async function applyToObject(store: StoreInternals, context: WriteContext, merge: Merge): Promise<AppliedParts> {
  const { definition } = store
  const { types, reset } = store.fieldOwnership.of(definition)
  const request = {
    live: merge.live,
    applied: merge.applied,
    manager: context.fieldManager,
    force: merge.force,
    maxConflicts,
    apiVersion: formatApiVersion(definition.kind),
    subresource: merge.subresource,
    resetFields: reset.get(merge.subresource),
    now: store.environment.clock.now(),
    types,
  }
  // Conversion by webhook is asynchronous.
  const mayWait = definition.conversion !== undefined || isLargeValue(merge.applied) || isLargeValue(merge.live)
  let parts: ApplyParts
  try {
    parts = mayWait ? await runInLaterTurns(pacedFields.applyParts(request), store.turns) : applyParts(request)
  } catch (error) {
    throw mergeRefusal(error)
  }
  if (parts.kind === 'conflict') throw conflictError(parts.conflicts, parts.total)
  return parts
}

function mergeRefusal(error: unknown): unknown {
  if (!(error instanceof FieldManagerError)) return error
  return error.code === 'Unconvertible' ? ApiError.withoutReason(500, error.message) : ApiError.badRequest(error.message)
}

/** Decodes the merged object. @throws ApiError 400, 413 */
async function decodeMerged({ definition, environment, turns }: StoreInternals, value: JsonValue): Promise<ApiObject> {
  const { maxObjectBytes = maxObjectBytesByDefault } = environment
  const type = definition.kind.type()
  const keepEmpties = definition.strategy.distinctEmpties
  const options = { collect: false, size: new DecodedSize(maxObjectBytes), sortsRaw: true, keepEmpties, keepNulls: true }
  try {
    const { object } = isLargeValue(value)
      ? await runInLaterTurns(pacedSchema.decode<ApiObject>(type, value, options), turns)
      : decode<ApiObject>(type, value, options)
    return object
  } catch (error) {
    throw decodeRefusal(error, maxObjectBytes)
  }
}

function nameless(name: string): ApiError {
  return ApiError.badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
}

/**
 * Refuses to create an object from a configuration with a uid: the uid refers to an existing object, and a new object would get another
 * one. @throws ApiError 409
 */
function refuseUid(store: StoreInternals, name: string, { metadata }: ApiObject | FrozenObject): void {
  const uid = metadata.uid ?? ''
  if (uid === '') return
  const problem = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
  throw ApiError.conflict(groupResource(store), name, problem)
}
