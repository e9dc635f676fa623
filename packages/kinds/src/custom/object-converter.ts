import type { ApiObject, DeepReadonly, JsonObject } from '@krmkit/meta'
import { normalize } from '@krmkit/schema'
import type { KindInfo, ObjectConversion } from '../interfaces.ts'

/**
 * Versions of a kind whose members differ: objects are worked with in the version of the request, and translated when they are
 * read from storage and when they are written to it.
 */

type Frozen = DeepReadonly<ApiObject>

/**
 * Translates objects of one kind to another version: as many as were given, in their order. The arguments are frozen.
 *
 * @throws whatever keeps it from doing so; nothing is read or written then.
 */
export type ObjectConverter = (objects: readonly Frozen[], apiVersion: string) => Promise<readonly ApiObject[]>

export interface ConversionParts {
  /** The version of the request, and the one objects are kept in. */
  readonly apiVersion: string
  readonly storedVersion: string
  /** By apiVersion. */
  readonly kinds: ReadonlyMap<string, KindInfo>
  readonly converter: ObjectConverter
}

/** Between one served version and storage. What a version does not know is dropped from its objects. */
export function objectConversion({ apiVersion, storedVersion, kinds, converter }: ConversionParts): ObjectConversion {
  const known = (object: ApiObject | Frozen, version: string): ApiObject => {
    const type = kinds.get(version)?.type()
    const codec = type?.custom
    if (type === undefined || codec === undefined) return object as ApiObject
    return normalize(type, codec.dropUnknownFields(object as unknown as JsonObject)) as unknown as ApiObject
  }
  return {
    async read(objects) {
      const written = objects.map((object) => {
        const codec = kinds.get(object.apiVersion)?.type().custom
        return (codec?.readStored(object as unknown as JsonObject) ?? object) as unknown as ApiObject
      })
      const foreign = written.filter((object) => object.apiVersion !== apiVersion)
      if (foreign.length === 0) return written
      const converted = await converter(foreign as unknown as Frozen[], apiVersion)
      let next = 0
      return written.map((object) =>
        object.apiVersion === apiVersion ? object : known(converted[next++] as ApiObject, apiVersion),
      )
    },
    async write(object) {
      if (object.apiVersion === storedVersion) return object as ApiObject
      const [converted] = await converter([object], storedVersion)
      return known(converted as ApiObject, storedVersion)
    },
  }
}
