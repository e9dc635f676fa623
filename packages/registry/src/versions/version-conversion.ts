import { deepFreeze } from '@krmkit/base/paced'
import { isLargeValue, type Pace, runInLaterTurns, type Turns, type Work, whenDone } from '@krmkit/base/work'
import type { ResourceDefinition } from '@krmkit/kinds'
import type { RequiredMembers } from '@krmkit/kinds/strategies'
import type { ApiObject } from '@krmkit/meta'
import type { DecodedSize, StructType } from '@krmkit/schema'
import type { FrozenObject } from '../interfaces.ts'
import type { ServedResources } from './served-resources.ts'
import * as direct from './to-version.direct.ts'
import { toVersion } from './to-version.ts'
import { applyVersionDefaults } from './version-defaults.direct.ts'
import type { VersionDefaultsOptions } from './version-defaults.ts'
import * as paced from './version-defaults.ts'

/** Conversion between the version of a request and the storage version, and the required members of a version. */

/** The parts of a store that conversion needs. */
interface StoredResource {
  readonly definition: ResourceDefinition
  readonly served: Pick<ServedResources, 'stored'>
}

/** The definition of the storage version, which may differ from the version of the request. */
export function storedDefinition({ definition, served }: StoredResource): ResourceDefinition {
  return served.stored(definition.storage.group, definition.storage.resource) ?? definition
}

/** The type of stored objects. */
export function storedType(store: StoredResource): StructType {
  return storedDefinition(store).kind.type()
}

/**
 * Converts a large object in slices, ahead of `toVersion`; `undefined` for small objects, and for definitions whose conversion cannot
 * pause.
 *
 * @param object frozen
 * @see {@link toVersion}
 */
export function loadVersion(
  object: FrozenObject,
  definition: ResourceDefinition,
  turns: Turns,
): Promise<FrozenObject> | undefined {
  if (definition.paced === undefined || !isLargeValue(object)) return undefined
  return runInLaterTurns(frozenResult(definition.paced.fromStorage(object)), turns)
}

/**
 * The form in which a write stores an object that it takes from storage. An instance of a custom resource may have been stored under another
 * definition: in another version, or without the present defaults. Its present form has the storage version, and what the version of the
 * request shows. Returns a promise when the object is large.
 *
 *     stored as v1 {}, requested as v2, stored as v3 --> v3 {color: red}   (the default of v1 is red)
 */
export function presentForm<T extends FrozenObject | ApiObject>(
  object: T,
  definition: ResourceDefinition,
  pace: Pace,
): T | Promise<T> {
  const { custom, toStorage } = definition
  if (custom === undefined || toStorage === undefined) return object
  const stored = object as FrozenObject
  const shown = pace.isSliced ? pace.run(toVersion(stored, definition)) : direct.toVersion(stored, definition)
  return whenDone(shown, (each) => toStorage(each) as T)
}

function* frozenResult(work: Work<ApiObject>): Work<FrozenObject> {
  return yield* deepFreeze(yield* work)
}

/**
 * Completes a decoded object with the defaults of its version and converts it to the storage version. Takes several slices for a large
 * object. The function may mutate `object`, and the caller may mutate the result.
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
    ? runInLaterTurns(paced.applyVersionDefaults(object, definition, options), turns).then(convert)
    : convert(applyVersionDefaults(object, definition, options))
}

interface DefaultingContext {
  readonly definition: ResourceDefinition
  readonly environment: Omit<VersionDefaultsOptions, 'size'>
  readonly turns: Turns
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
