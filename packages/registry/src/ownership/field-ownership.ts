import { conflictError, FieldManagerError } from '@krmkit/fieldmanager'
import {
  type AppliedParts,
  type ApplyParts,
  applyParts,
  applyPartsSteps,
  ignoreManagedFieldsTimestamps,
  ignoreManagedFieldsTimestampsSteps,
  isResetManagedFields,
  managedFieldsAfterUpdate,
  managedFieldsAfterUpdateSteps,
} from '@krmkit/fieldmanager/managed-fields'
import { validateValueSteps } from '@krmkit/fieldmanager/typed'
import { ApiError, type ApiObject, formatApiVersion, type JsonObject, type JsonValue } from '@krmkit/meta'
import { isLargeValue, runAtOnce, runInLaterTurns, type Work } from '@krmkit/meta/work'
import { stringifyJson } from '@krmkit/schema'
import { dropEmpties, dropEmptiesSteps } from '@krmkit/schema/decode'
import type { FrozenObject, WriteContext } from '../interfaces.ts'
import { type StoreInternals, storedType } from '../internals.ts'
import { toVersion, toVersionSteps } from '../versions/version-conversion.ts'
import { dropMember } from '../write/metadata.ts'

/**
 * Field ownership, recorded by every write. managedFields refer to the version of the request, so objects are converted to it.
 *
 * @see API protocol specification, 4.7
 */

interface OwnedWrite {
  readonly live: FrozenObject | undefined
  readonly next: ApiObject
  readonly subresource: string
  /** Whether one of the objects is large. */
  readonly large: boolean
  /** The stored object was not written under the present definition. Default false. */
  readonly unsettled?: boolean
}

/**
 * Records that the manager of the request owns the fields in which `next` differs from `live` (both in the storage version). Sets
 * `next.metadata.managedFields`; mutates `next`.
 *
 * @returns a promise where the objects are large, and processed in slices, or where a webhook converts them.
 */
export function trackOwnership(store: StoreInternals, context: WriteContext, write: OwnedWrite): Promise<void> | undefined {
  if (!write.large) return runAtOnce(isMistyped(store, write)) ? drop(write) : trackTyped(store, context, write)
  return runInLaterTurns(isMistyped(store, write), store.turns).then((mistyped) =>
    mistyped ? drop(write) : trackTyped(store, context, write),
  )
}

function drop({ next }: OwnedWrite): undefined {
  dropMember(next.metadata, 'managedFields')
}

function trackTyped(
  store: StoreInternals,
  context: WriteContext,
  { live, next, subresource, large }: OwnedWrite,
): Promise<void> | undefined {
  const { definition } = store
  const { types, reset } = store.fieldOwnership.of(definition)
  const apiVersion = formatApiVersion(definition.kind)
  const now = store.environment.clock.now()
  if (live !== undefined && !hasOwners(live) && !hasOwners(next)) {
    // An object without managedFields stays without them until it is applied, or an update sets them.
    dropMember(next.metadata, 'managedFields')
    return undefined
  }
  const update = {
    live: live === undefined ? undefined : toVersion(live, definition),
    manager: context.fieldManager,
    apiVersion,
    subresource,
    resetFields: reset.get(subresource),
    now,
    types,
  }
  const { distinctEmpties = [] } = definition.strategy
  const type = storedType(store)
  // A custom resource was decoded in the version of the request: the stored version may lack some of its members.
  const isCustom = definition.custom !== undefined
  // A webhook may have to convert the objects.
  if (large || definition.conversion !== undefined) {
    const work = function* (): Work<FrozenObject['metadata']['managedFields']> {
      const owned = yield* dropEmptiesSteps(type, next, distinctEmpties)
      const shown = isCustom ? { ...owned, apiVersion } : yield* toVersionSteps(owned, definition)
      return yield* managedFieldsAfterUpdateSteps({ next: shown, ...update })
    }
    return runInLaterTurns(work(), store.turns).then((owners) => setManagedFields(next, owners))
  }
  const owned = dropEmpties(type, next, distinctEmpties)
  const shown = isCustom ? { ...owned, apiVersion } : toVersion(owned, definition)
  setManagedFields(next, managedFieldsAfterUpdate({ next: shown, ...update }))
  return undefined
}

/**
 * Whether an update of a custom resource has to do with values that do not fit the types of its schema: in the stored object, whose schema
 * has changed since; in the part that the request cannot change, which is dropped without validation; in texts with a format, where
 * validation accepts lists. kube-apiserver tracks ownership first, fails, and drops all owners.
 */
function* isMistyped(
  { definition, fieldOwnership }: StoreInternals,
  { live, next, subresource, unsettled = false }: OwnedWrite,
): Work<boolean> {
  const { custom, kind, strategy } = definition
  if (custom?.schema === undefined || subresource === 'scale') return false
  const { status, metadata: _, ...rest } = next as ApiObject & { status?: JsonValue }
  const hasStatus = strategy.subresources?.['status'] !== undefined
  const checked = { ...(hasFormats(custom.schema) || subresource === 'status' ? rest : {}), ...(hasStatus ? { status } : {}) }
  const type = fieldOwnership.of(definition).types.typed(formatApiVersion(kind))
  if (type === undefined) return false
  if ((yield* validateValueSteps(checked as JsonObject, type, { allowDuplicates: true })).length > 0) return true
  if (live === undefined || !unsettled) return false
  const { metadata, ...stored } = live
  return (yield* validateValueSteps(stored as JsonObject, type, { allowDuplicates: true })).length > 0
}

const formats = new WeakMap<JsonObject, boolean>()

/** Whether a schema contains texts with a format. */
function hasFormats(schema: JsonObject): boolean {
  let found = formats.get(schema)
  if (found === undefined) {
    found = stringifyJson(schema).includes('"format":')
    formats.set(schema, found)
  }
  return found
}

function hasOwners({ metadata: { managedFields } }: FrozenObject | ApiObject): boolean {
  return managedFields !== undefined && managedFields.length > 0 && !isResetManagedFields(managedFields)
}

export function setManagedFields(object: ApiObject, entries: FrozenObject['metadata']['managedFields']): void {
  if (entries === undefined) dropMember(object.metadata, 'managedFields')
  else object.metadata.managedFields = entries as NonNullable<ApiObject['metadata']['managedFields']>
}

/** Restores the old timestamps when managedFields differ in nothing else, so that the write changes nothing. */
export function settleOwnership(current: FrozenObject, next: ApiObject): ApiObject {
  return ignoreManagedFieldsTimestamps(current, next as FrozenObject) as ApiObject
}

/** As `settleOwnership`, with pauses. */
export function* settleOwnershipSteps(current: FrozenObject, next: ApiObject): Work<ApiObject> {
  return (yield* ignoreManagedFieldsTimestampsSteps(current, next as FrozenObject)) as ApiObject
}

export interface ApplyIntent {
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
 * @returns the merged value without its managedFields, to be decoded before it is changed; a promise where the objects are large,
 * or where a webhook converts them.
 * @throws ApiError 400 for a configuration that cannot be applied, 409 for conflicts, 500 for an object that cannot be converted to the
 * version of one of its managers.
 */
export function applyToObject(
  store: StoreInternals,
  context: WriteContext,
  intent: ApplyIntent,
): AppliedParts | Promise<AppliedParts> {
  const { definition } = store
  const { types, reset } = store.fieldOwnership.of(definition)
  const request = {
    live: intent.live,
    applied: intent.applied,
    manager: context.fieldManager,
    force: intent.force,
    maxConflicts,
    apiVersion: formatApiVersion(definition.kind),
    subresource: intent.subresource,
    resetFields: reset.get(intent.subresource),
    now: store.environment.clock.now(),
    types,
  }
  if (definition.conversion !== undefined || isLargeValue(intent.applied) || isLargeValue(intent.live)) {
    return runInLaterTurns(applyPartsSteps(request), store.turns).then(partsOf, (error) => {
      throw refusal(error)
    })
  }
  try {
    return partsOf(applyParts(request))
  } catch (error) {
    throw refusal(error)
  }
}

/** @throws ApiError 409 */
function partsOf(result: ApplyParts): AppliedParts {
  if (result.kind === 'conflict') throw conflictError(result.conflicts, result.total)
  return result
}

function refusal(error: unknown): unknown {
  if (!(error instanceof FieldManagerError)) return error
  return error.code === 'Unconvertible' ? ApiError.withoutReason(500, error.message) : ApiError.badRequest(error.message)
}
