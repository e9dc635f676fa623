import type { Work } from '@krmkit/base/work'
import { preparationWork, type ResourceDefinition } from '@krmkit/kinds'
import type { ApiObject, Clock, Features, NamingProfile } from '@krmkit/meta'
import { type DecodedSize, DecodeError, type StructType } from '@krmkit/schema'
import { applyDefaults, jsonWeight } from '@krmkit/schema/paced'
import { largeBodyBytes } from '../cache/object-cache.ts'
import { objectTooLarge } from './refusals.ts'

export interface VersionDefaultsOptions {
  readonly profile: NamingProfile
  readonly clock: Clock
  readonly features: Features
  readonly size?: DecodedSize | undefined
}

/**
 * Applies the defaults of the type, and then the defaults that depend on other fields. May mutate and return `object`.
 *
 * @param size count of the decoding that produced the object; defaults add to it.
 * @throws ApiError 413 when the defaults make the object too large.
 */
export function* applyVersionDefaults(
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
  // A small body needs no check: strategies add little to it.
  if (size !== undefined && size.bytes > largeBodyBytes) yield* checkSize(defaulted, size)
  return defaulted
}

function* applyTypeDefaults(type: StructType, object: ApiObject, size: DecodedSize | undefined): Work<ApiObject> {
  try {
    return yield* applyDefaults(type, object, { size })
  } catch (error) {
    throw defaultsRefusal(error, size)
  }
}

export function defaultsRefusal(error: unknown, size: DecodedSize | undefined): unknown {
  return size !== undefined && error instanceof DecodeError && error.code === 'TooLarge' ? objectTooLarge(size.maxBytes) : error
}

/**
 * Checks the approximate size of an object after defaulting. Decoding counts base64 data by its decoded bytes, while the text is a third
 * longer, so the limit here is a third higher. The write checks the exact size after validation, which names the member that is too large.
 *
 * @throws ApiError 413
 */
function* checkSize({ metadata: { managedFields: _, ...metadata }, ...object }: ApiObject, { maxBytes }: DecodedSize): Work {
  if ((yield* jsonWeight({ ...object, metadata, status: undefined })) > (maxBytes * 4) / 3) throw objectTooLarge(maxBytes)
}
