import {
  type AppliedParts,
  type ApplyParts,
  applyParts,
  applyPartsSteps,
  conflictError,
  createTypeConverter,
  FieldManagerError,
  FieldSet,
  fieldElement,
  ignoreManagedFieldsTimestamps,
  isResetManagedFields,
  managedFieldsAfterUpdate,
  managedFieldsAfterUpdateSteps,
  type ResetFields,
  type TypeConverter,
} from '@krmkit/fieldmanager'
import type { ResourceDefinition } from '@krmkit/kinds'
import { ApiError, type ApiObject, formatApiVersion, type JsonObject, runInSlices, Slices } from '@krmkit/meta'
import { normalize, stringifyJson } from '@krmkit/schema'
import type { FrozenObject, RequestContext } from './interfaces.ts'
import { isLarge } from './object-weight.ts'
import type { ServedResources } from './served-resources.ts'
import type { Writer } from './writer.ts'

/**
 * Who owns which field, kept by every write. Owners are recorded in the version of the request, so objects are looked at
 * through it.
 *
 * @see API protocol specification, 4.7
 */

/** Everything ownership has to know about one kind, in all its served versions. */
interface OwnedKind {
  readonly types: TypeConverter
  /** By sub-resource. */
  readonly reset: ReadonlyMap<string, ResetFields>
}

/** Worked out once for each definition; a resource whose versions change gets new definitions. */
export class OwnedKinds {
  readonly #served: ServedResources
  readonly #known = new WeakMap<ResourceDefinition, OwnedKind>()

  constructor(served: ServedResources) {
    this.#served = served
  }

  of(definition: ResourceDefinition): OwnedKind {
    let known = this.#known.get(definition)
    if (known === undefined) {
      known = this.#describe(definition)
      this.#known.set(definition, known)
    }
    return known
  }

  /** All served versions of the resource. */
  versionsOf(definition: ResourceDefinition): readonly ResourceDefinition[] {
    return this.#served.versionsOf(definition.storage)
  }

  #describe(definition: ResourceDefinition): OwnedKind {
    const versions = this.#served.versionsOf(definition.storage)
    const served = versions.length === 0 ? [definition] : versions
    const byVersion = new Map(served.map((each) => [formatApiVersion(each.kind), each]))
    const convert = (object: JsonObject, apiVersion: string): JsonObject => {
      const from = byVersion.get(String(object['apiVersion']))
      const to = byVersion.get(apiVersion)
      if (from === undefined || to === undefined) return object
      const stored = from.toStorage?.(object as unknown as ApiObject) ?? (object as unknown as ApiObject)
      const seen = to.fromStorage?.(stored) ?? stored
      return normalize(to.kind.type(), seen) as unknown as JsonObject
    }
    const types = createTypeConverter(
      Object.fromEntries([...byVersion].map(([version, each]) => [version, each.kind.type])),
      byVersion.size > 1 ? convert : undefined,
    )
    const reset = new Map<string, ResetFields>()
    for (const [subresource, paths] of Object.entries(definition.policy.resetFields ?? {})) {
      const exclude = FieldSet.of(...paths.map((path) => path.map((member) => fieldElement(member))))
      reset.set(subresource, Object.fromEntries([...byVersion.keys()].map((version) => [version, { exclude }])))
    }
    return { types, reset }
  }
}

/** The object as the version of the request shows it. */
function seen(object: FrozenObject, definition: ResourceDefinition): FrozenObject {
  return definition.fromStorage === undefined ? object : normalize(definition.kind.type(), definition.fromStorage(object))
}

/**
 * Records that the caller changed what differs between `live` and `next` (both in the storage version). Sets
 * `next.metadata.managedFields`; `next` is the caller's own.
 *
 * @returns what to wait for where the objects are large, for they are worked on in slices.
 */
export function trackOwnership(
  writer: Writer,
  definition: ResourceDefinition,
  context: RequestContext,
  { live, next, subresource }: { live: FrozenObject | undefined; next: ApiObject; subresource: string },
): Promise<void> | undefined {
  const { types, reset } = writer.owned.of(definition)
  const apiVersion = formatApiVersion(definition.kind)
  const now = writer.environment.clock.now()
  if (live !== undefined && losesOwners(writer, definition, { live, next })) {
    delete next.metadata.managedFields
    return undefined
  }
  if (live !== undefined && !hasOwners(live) && !hasOwners(next)) {
    // An object without owners stays so until somebody applies it, or says who owns what.
    delete next.metadata.managedFields
    return undefined
  }
  const update = {
    live: live === undefined ? undefined : seen(live, definition),
    // What is about to be stored in its own version was prepared by its rules already.
    next: definition.version === definition.storage.version ? next : seen(next, definition),
    manager: context.fieldManager,
    apiVersion,
    subresource,
    resetFields: reset.get(subresource),
    now,
    types,
  }
  if (isLarge(next) || isLarge(live)) {
    return runInSlices(managedFieldsAfterUpdateSteps(update), new Slices(writer.slices)).then((owners) =>
      setManagedFields(next, owners),
    )
  }
  setManagedFields(next, managedFieldsAfterUpdate(update))
  return undefined
}

/**
 * Versions of a custom resource are not translated for ownership: where a version that owners speak in does not know a member of
 * the object, ownership is given up until somebody applies, as on a stock server.
 */
function losesOwners(
  writer: Writer,
  definition: ResourceDefinition,
  { live, next }: { live: FrozenObject; next: ApiObject },
): boolean {
  if (definition.custom === undefined) return false
  const own = formatApiVersion(definition.kind)
  const versions = writer.owned.versionsOf(definition)
  if (versions.length < 2) return false
  const entries = live.metadata.managedFields
  if (entries === undefined) return !isResetManagedFields(next.metadata.managedFields)
  const object = next as unknown as JsonObject
  const spoken = new Set(entries.map(({ apiVersion }) => apiVersion).filter((version) => version !== own))
  return versions.some(({ kind }) => {
    const codec = spoken.has(formatApiVersion(kind)) ? kind.type().custom : undefined
    return codec !== undefined && stringifyJson(codec.normalize(codec.known(object))) !== stringifyJson(codec.normalize(object))
  })
}

/** @param object the caller's own, as is its metadata. */
function hasOwners({ metadata: { managedFields } }: FrozenObject | ApiObject): boolean {
  return managedFields !== undefined && managedFields.length > 0 && !isResetManagedFields(managedFields)
}

export function setManagedFields(object: ApiObject, entries: FrozenObject['metadata']['managedFields']): void {
  if (entries === undefined) delete object.metadata.managedFields
  else object.metadata.managedFields = entries as NonNullable<ApiObject['metadata']['managedFields']>
}

/** Old times come back when nothing but times differs, so that such a write changes nothing. */
export function settleOwnership(current: FrozenObject, next: ApiObject): ApiObject {
  return ignoreManagedFieldsTimestamps(current, next as FrozenObject) as ApiObject
}

export interface ApplyIntent {
  /** The stored object in the version of the request; absent when the apply creates it. */
  readonly live: FrozenObject | undefined
  readonly applied: FrozenObject
  readonly force: boolean
  readonly subresource: string
}

/** Conflicts that are listed one by one; beyond them only their number is. */
const maxConflicts = 1000

/**
 * Joins an applied configuration with the live object, both in the version of the request.
 *
 * @returns the merged object apart from its owners, to be decoded again before anything is changed in it; a promise of it where the
 * objects are large.
 * @throws ApiError 400 for a configuration that cannot be applied, 409 for conflicts.
 */
export function applyToObject(
  writer: Writer,
  definition: ResourceDefinition,
  context: RequestContext,
  intent: ApplyIntent,
): AppliedParts | Promise<AppliedParts> {
  const { types, reset } = writer.owned.of(definition)
  const request = {
    live: intent.live,
    applied: intent.applied,
    manager: context.fieldManager,
    force: intent.force,
    maxConflicts,
    apiVersion: formatApiVersion(definition.kind),
    subresource: intent.subresource,
    resetFields: reset.get(intent.subresource),
    now: writer.environment.clock.now(),
    types,
  }
  if (isLarge(intent.applied) || isLarge(intent.live)) {
    return runInSlices(applyPartsSteps(request), new Slices(writer.slices)).then(partsOf, (error) => {
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
  return error instanceof FieldManagerError ? ApiError.badRequest(error.message) : error
}
