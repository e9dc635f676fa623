import type { Work } from '@krmkit/base/work'
import type { ApiObject, DeepReadonly, JsonObject } from '@krmkit/meta'
import type { CustomCodec } from '@krmkit/schema'
import type { KindInfo } from '../interfaces.ts'

/** A version of a custom resource that differs from others only in its schema. */
export interface ServedVersion {
  readonly apiVersion: string
  /** The kinds of all versions, by apiVersion. */
  readonly kinds: ReadonlyMap<string, KindInfo>
  readonly codec: () => CustomCodec
}

/** A stored object, completed by the schema of the version that wrote it, as this version shows it. */
export function* readAs(object: DeepReadonly<ApiObject>, { apiVersion, kinds, codec }: ServedVersion): Work<ApiObject> {
  const stored = object as unknown as JsonObject
  const written = kinds.get(object.apiVersion)?.type().custom
  const read = written === undefined ? stored : yield* written.paced.readStored(stored)
  const shown = read.apiVersion === apiVersion ? read : yield* codec().paced.dropUnknownFields({ ...read, apiVersion })
  return shown as unknown as ApiObject
}
