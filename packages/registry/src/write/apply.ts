import type { AppliedParts } from '@krmkit/fieldmanager/managed-fields'
import { missingErrors, newlyMissing } from '@krmkit/kinds/strategies'
import { ApiError, type ApiObject, type FieldError, type JsonValue } from '@krmkit/meta'
import { isLargeValue, runInLaterTurns } from '@krmkit/meta/work'
import { type Decoded, DecodedSize, decode } from '@krmkit/schema'
import { decodeSteps } from '@krmkit/schema/decode'
import type { AppliedConfiguration, ApplyRequest, FrozenObject, UpdateResult, WriteContext } from '../interfaces.ts'
import { groupResource, type StoreInternals } from '../internals.ts'
import { type ApplyIntent, applyToObject, setManagedFields } from '../ownership/field-ownership.ts'
import { requiredMembersOf } from '../versions/required-members.ts'
import {
  applyVersionDefaults,
  applyVersionDefaultsSteps,
  decodeRefusal,
  toStorageVersion,
  toVersion,
} from '../versions/version-conversion.ts'
import { maxObjectBytesByDefault } from './object-size.ts'
import { updateObject } from './update.ts'

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
      const given = configuration(live !== undefined)
      const applied = given instanceof Promise ? await given : given
      const result = await merged(store, context, request, { current, live, applied })
      missing = result.missing
      return result.object
    },
    missing: () => missing,
    ...target,
  })
}

interface Merge {
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
  { current, live, applied }: Merge,
): Promise<MergedObject> {
  const { definition, environment } = store
  const { sent, object } = applied
  if (current === undefined && applied.unnamed === true) refuseUid(store, name, sent)
  const merging = merge(store, context, { live, applied: sent, force, subresource }, applied)
  const { value, content, managedFields } = merging instanceof Promise ? await merging : merging
  for (const text of applied.warnings ?? []) context.warn(text)
  if (current !== undefined && content === 'live' && managedFields === live?.metadata.managedFields)
    return { object: current, missing: [] }
  const required = requiredMembersOf(definition, subresource)
  const missing = newlyMissing(missingErrors(content === 'applied' ? sent : value, required), live, required)
  const decoding = content === 'applied' ? decoded(object) : decodeMerged(store, value)
  const next = decoding instanceof Promise ? await decoding : decoding
  if ((next.metadata.name ?? '') === '') throw nameless(name)
  setManagedFields(next, managedFields)
  if (current === undefined) refuseUid(store, name, next)
  const complete = isLargeValue(next)
    ? await runInLaterTurns(applyVersionDefaultsSteps(next, definition, environment), store.turns)
    : applyVersionDefaults(next, definition, environment)
  return { object: toStorageVersion(complete, definition), missing }
}

/** @throws ApiError 409 for conflicts, also of a configuration that is refused; its refusal otherwise. */
function merge(
  store: StoreInternals,
  context: WriteContext,
  intent: ApplyIntent,
  { object, warnings = [] }: AppliedConfiguration,
): AppliedParts | Promise<AppliedParts> {
  if (!(object instanceof ApiError)) return applyToObject(store, context, intent)
  return conflictOf(store, context, intent).then((conflict) => {
    if (conflict === undefined) for (const text of warnings) context.warn(text)
    throw conflict ?? object
  })
}

/** The error of an apply that conflicts with other managers. */
async function conflictOf(store: StoreInternals, context: WriteContext, intent: ApplyIntent): Promise<ApiError | undefined> {
  if (intent.live === undefined) return undefined
  try {
    await applyToObject(store, context, intent)
    return undefined
  } catch (error) {
    // A configuration that cannot be merged either has its own refusal.
    if (error instanceof ApiError) return error.reason === 'Conflict' ? error : undefined
    throw error
  }
}

/** @throws ApiError 400 */
function decoded(object: ApiObject | ApiError): ApiObject {
  if (object instanceof ApiError) throw object
  return object
}

/** Decodes the merged object; a promise where it is large. @throws ApiError 400, 413 */
function decodeMerged({ definition, environment, turns }: StoreInternals, value: JsonValue): ApiObject | Promise<ApiObject> {
  const { maxObjectBytes = maxObjectBytesByDefault } = environment
  const type = definition.kind.type()
  const keepEmpties = definition.strategy.distinctEmpties
  const options = { collect: false, size: new DecodedSize(maxObjectBytes), sortsRaw: true, keepEmpties, keepNulls: true }
  const refuse = (error: unknown): never => {
    throw decodeRefusal(error, maxObjectBytes)
  }
  if (isLargeValue(value)) {
    return runInLaterTurns(decodeSteps<ApiObject>(type, value, options), turns).then(objectOf, refuse)
  }
  try {
    return objectOf(decode<ApiObject>(type, value, options))
  } catch (error) {
    return refuse(error)
  }
}

function objectOf({ object }: Decoded<ApiObject>): ApiObject {
  return object
}

function nameless(name: string): ApiError {
  return ApiError.badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
}

/** A configuration with a uid refers to an object that exists; a new one would get another uid. @throws ApiError 409 */
function refuseUid(store: StoreInternals, name: string, { metadata }: ApiObject | FrozenObject): void {
  const uid = metadata.uid ?? ''
  if (uid === '') return
  const problem = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
  throw ApiError.conflict(groupResource(store), name, problem)
}
