// Derived from served-version.ts by `npm run direct`: do not edit.
import type { ApiObject, DeepReadonly, JsonObject } from '@krmkit/meta'
import type { ServedVersion } from './served-version.ts'

/** A stored object, completed by the schema of the version that wrote it, as this version shows it. */
export function readAs(object: DeepReadonly<ApiObject>, { apiVersion, kinds, codec }: ServedVersion): ApiObject {
  const stored = object as unknown as JsonObject
  const written = kinds.get(object.apiVersion)?.type().custom
  const read = written === undefined ? stored : written.readStored(stored)
  const shown = read.apiVersion === apiVersion ? read : codec().dropUnknownFields({ ...read, apiVersion })
  return shown as unknown as ApiObject
}
