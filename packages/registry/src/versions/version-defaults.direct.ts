// Derived from version-defaults.ts by `npm run direct`: do not edit.
import { runAtOnce } from '@krmkit/base/work'
import { preparationWork, type ResourceDefinition } from '@krmkit/kinds'
import type { ApiObject } from '@krmkit/meta'
import { applyDefaults, type DecodedSize, type StructType } from '@krmkit/schema'
import { jsonWeight } from '@krmkit/schema/decode'
import { largeBodyBytes } from '../cache/object-cache.ts'
import { objectTooLarge } from './refusals.ts'
import { defaultsRefusal, type VersionDefaultsOptions } from './version-defaults.ts'

/**
 * Applies the defaults of the type, and then the defaults that depend on other fields. May mutate and return `object`.
 *
 * @param size count of the decoding that produced the object; defaults add to it.
 * @throws ApiError 413 when the defaults make the object too large.
 */
export function applyVersionDefaults(
  object: ApiObject,
  { kind, strategy }: ResourceDefinition,
  options: VersionDefaultsOptions,
): ApiObject {
  const { profile, size } = options
  const defaulted = applyTypeDefaults(kind.type(), object, size)
  if (strategy.defaults === undefined) return defaulted

  runAtOnce(preparationWork(strategy.defaults(defaulted, kind.version, profile, options)))

  // A small body needs no check: strategies add little to it.
  if (size !== undefined && size.bytes > largeBodyBytes) checkSize(defaulted, size)
  return defaulted
}

function applyTypeDefaults(type: StructType, object: ApiObject, size: DecodedSize | undefined): ApiObject {
  try {
    return applyDefaults(type, object, { size })
  } catch (error) {
    throw defaultsRefusal(error, size)
  }
}

/**
 * Checks the approximate size of an object after defaulting. Decoding counts base64 data by its decoded bytes, while the text is a third
 * longer, so the limit here is a third higher. The write checks the exact size after validation, which names the member that is too large.
 *
 * @throws ApiError 413
 */
function checkSize({ metadata: { managedFields: _, ...metadata }, ...object }: ApiObject, { maxBytes }: DecodedSize): void {
  if (jsonWeight({ ...object, metadata, status: undefined }) > (maxBytes * 4) / 3) throw objectTooLarge(maxBytes)
}
