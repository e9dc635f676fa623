import { preparationWork, type ResourceDefinition, runPreparation } from '@krmkit/kinds'
import type { RequiredMembers } from '@krmkit/kinds/strategies'
import { ApiError, type ApiObject, type Clock, type Features, type NamingProfile } from '@krmkit/meta'
import { freezeSteps, isLargeValue, runAtOnce, runInLaterTurns, type Turns, type Work } from '@krmkit/meta/work'
import { applyDefaults, type DecodedSize, DecodeError, normalize, type StructType } from '@krmkit/schema'
import { applyDefaultsSteps, jsonWeightSteps } from '@krmkit/schema/decode'
import { largeBodyBytes } from '../cache/object-cache.ts'
import type { FrozenObject } from '../interfaces.ts'
import type { ServedResources } from './served-resources.ts'

/** Conversion between the version of a request and the storage version, and the defaults and required members of a version. */

/** What a conversion needs of the store of a resource. */
interface StoredResource {
  readonly definition: ResourceDefinition
  readonly served: Pick<ServedResources, 'stored'>
}

/** The definition in which objects are stored; the version of the request may differ. */
export function storedDefinition({ definition, served }: StoredResource): ResourceDefinition {
  return served.stored(definition.storage.group, definition.storage.resource) ?? definition
}

/** The type of stored objects. */
export function storedType(store: StoredResource): StructType {
  return storedDefinition(store).kind.type()
}

/**
 * A stored object in the version of a definition. Objects that a webhook converts are in that version already.
 *
 * @example
 * import { createCatalog } from '@krmkit/kinds'
 * import { toVersion } from '@krmkit/registry'
 * const hpa = { group: 'autoscaling', version: 'v1', resource: 'horizontalpodautoscalers' }
 * const stored = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'web' } }
 * toVersion(stored, createCatalog().resource(hpa)!).apiVersion // 'autoscaling/v1'
 */
export function toVersion(object: FrozenObject, { kind, fromStorage, custom }: ResourceDefinition): FrozenObject {
  if (fromStorage === undefined) return object
  // Custom objects are normal when they are read.
  return (custom === undefined ? normalize(kind.type(), fromStorage(object)) : fromStorage(object)) as FrozenObject
}

/** As `toVersion`, with pauses for large objects. @see {@link toVersion} */
export function* toVersionSteps(object: FrozenObject, definition: ResourceDefinition): Work<FrozenObject> {
  const { paced } = definition
  return paced === undefined ? toVersion(object, definition) : ((yield* paced.fromStorage(object)) as FrozenObject)
}

/**
 * Converts a large object ahead of `toVersion`, in slices; `undefined` when there is nothing to wait for.
 *
 * @param object frozen
 * @see {@link toVersion}
 */
export function loadVersion(
  object: FrozenObject,
  { paced }: ResourceDefinition,
  turns: Turns,
): Promise<FrozenObject> | undefined {
  if (paced === undefined || !isLargeValue(object)) return undefined
  return runInLaterTurns(convertedSteps(paced.fromStorage(object)), turns)
}

function* convertedSteps(work: Work<ApiObject>): Work<FrozenObject> {
  return yield* freezeSteps(yield* work)
}

/**
 * Completes a decoded object with the defaults of its version and converts it to the storage version. Takes several slices for a large
 * object. `object` and the result are the caller's own.
 *
 * @param size count of the decoding that produced the object; defaults add to it.
 * @throws ApiError 413 when the defaults make the object too large.
 */
export function toStorageVersion(
  { definition, environment, turns }: DefaultingContext,
  object: ApiObject,
  size?: DecodedSize,
): ApiObject | Promise<ApiObject> {
  const { profile, features, clock } = environment
  const options = { profile, features, clock, size }
  const convert = (complete: ApiObject) => (definition.toStorage === undefined ? complete : definition.toStorage(complete))
  return isLargeValue(object)
    ? runInLaterTurns(applyVersionDefaultsSteps(object, definition, options), turns).then(convert)
    : convert(applyVersionDefaults(object, definition, options))
}

interface DefaultingContext {
  readonly definition: ResourceDefinition
  readonly environment: Omit<VersionDefaultsOptions, 'size'>
  readonly turns: Turns
}

interface VersionDefaultsOptions {
  readonly profile: NamingProfile
  readonly clock: Clock
  readonly features: Features
  readonly size?: DecodedSize | undefined
}

/**
 * Applies the defaults of the type, and then those that depend on other fields. `object` is the caller's own and may come back
 * changed.
 *
 * @param size count of the decoding that produced the object; defaults add to it.
 * @throws ApiError 413 when the defaults make the object too large.
 */
export function applyVersionDefaults(
  object: ApiObject,
  definition: ResourceDefinition,
  options: VersionDefaultsOptions,
): ApiObject {
  const { kind, strategy } = definition
  const { profile, size } = options
  const type = kind.type()
  // Small objects of most kinds need no generators.
  if (type.custom !== undefined) return runAtOnce(applyVersionDefaultsSteps(object, definition, options))
  let defaulted: ApiObject
  try {
    defaulted = applyDefaults(type, object, { size })
  } catch (error) {
    throw defaultsRefusal(error, size)
  }
  if (strategy.defaults === undefined) return defaulted
  runPreparation(strategy.defaults(defaulted, kind.version, profile, options))
  if (size !== undefined && size.bytes > largeBodyBytes) runAtOnce(checkSize(defaulted, size))
  return defaulted
}

/** As `applyVersionDefaults`, with pauses for large objects. */
export function* applyVersionDefaultsSteps(
  object: ApiObject,
  { kind, strategy }: ResourceDefinition,
  options: VersionDefaultsOptions,
): Work<ApiObject> {
  const { profile, size } = options
  const defaulted = yield* applyTypeDefaults(kind.type(), object, size)
  if (strategy.defaults === undefined) return defaulted
  yield true
  yield* preparationWork(strategy.defaults(defaulted, kind.version, profile, options))
  yield true
  // Strategies add little to a small body.
  if (size !== undefined && size.bytes > largeBodyBytes) yield* checkSize(defaulted, size)
  return defaulted
}

function* applyTypeDefaults(type: StructType, object: ApiObject, size: DecodedSize | undefined): Work<ApiObject> {
  try {
    return yield* applyDefaultsSteps(type, object, { size })
  } catch (error) {
    throw defaultsRefusal(error, size)
  }
}

function defaultsRefusal(error: unknown, size: DecodedSize | undefined): unknown {
  return size !== undefined && error instanceof DecodeError && error.code === 'TooLarge' ? objectTooLarge(size.maxBytes) : error
}

/**
 * Weighs the members that are stored as they were sent. Base64 counts by its bytes, so its text may be a third longer; the write checks the
 * exact size after validation, which names the member that is too large.
 *
 * @throws ApiError 413
 */
function* checkSize({ metadata: { managedFields: _, ...metadata }, ...object }: ApiObject, { maxBytes }: DecodedSize): Work {
  if ((yield* jsonWeightSteps({ ...object, metadata, status: undefined })) > (maxBytes * 4) / 3) throw objectTooLarge(maxBytes)
}

/**
 * Converts the error of a failed decoding to the ApiError for the client: 413 for a body that is too large, otherwise 400.
 *
 * @returns other errors unchanged.
 * @example
 * import { ApiError } from '@krmkit/meta'
 * import { decodeRefusal } from '@krmkit/registry'
 * import { DecodeError } from '@krmkit/schema'
 * const error = decodeRefusal(new DecodeError({ code: 'Syntax', message: 'unexpected end of JSON input' }), 1_572_864)
 * ApiError.is(error) && error.code // 400
 */
export function decodeRefusal(error: unknown, maxBytes: number): unknown {
  if (!(error instanceof DecodeError)) return error
  return error.code === 'TooLarge' ? objectTooLarge(maxBytes) : ApiError.badRequest(error.message)
}

/**
 * The members that objects of a resource, or of one of its subresources, must have.
 *
 * @see Strategy.requiredMembers
 * @example
 * import { builtInKinds } from '@krmkit/kinds'
 * import { requiredMembersOf } from '@krmkit/registry'
 * const drivers = builtInKinds().find(({ resource }) => resource.name === 'csidrivers')
 * if (drivers !== undefined) requiredMembersOf(drivers, '') // [['spec']]
 */
export function requiredMembersOf({ strategy }: ResourceDefinition, subresource: string): RequiredMembers {
  return strategy.requiredMembers?.[subresource]
}

/**
 * The 413 for an object above the limit. Clients match the error text of etcd.
 *
 * @example
 * import { objectTooLarge } from '@krmkit/registry'
 * objectTooLarge(1_572_864).code // 413
 */
export function objectTooLarge(maxBytes: number): ApiError {
  return ApiError.requestEntityTooLarge(`etcdserver: request is too large: stored objects may have ${maxBytes} bytes`)
}
