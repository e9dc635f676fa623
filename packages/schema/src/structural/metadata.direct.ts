// Derived from metadata.ts by `npm run direct`: do not edit.
import type { JsonObject, JsonValue } from '@krmkit/meta'
import { decode } from '../decode/decode.direct.ts'
import type { StructType } from '../interfaces.ts'
import { knownMetadata, type MetadataOptions, malformedMetadata } from './metadata.ts'

/**
 * Coerces metadata to its stored form: known fields of the right types.
 *
 * @returns undefined for a value that is not an object, when lenient.
 */
export function coerceMetadata(value: JsonValue, type: StructType, options: MetadataOptions): JsonObject | undefined {
  try {
    return knownMetadata(decode<JsonObject>(type, value, { collect: options.unknown !== undefined }), options)
  } catch (error) {
    return malformedMetadata(error, value, type, options)
  }
}
