import type { ApiObject, DeepReadonly, JsonObject } from '@krmkit/meta'
import { normalize } from '@krmkit/schema'
import type { KindInfo, ObjectConversion } from '../interfaces.ts'

/**
 * Conversion between versions of a kind whose members differ: requests work in their version; objects are converted on reading
 * from storage and on writing.
 */

type Frozen = DeepReadonly<ApiObject>

/**
 * Converts objects of one kind to another version: returns as many as given, in the same order. The arguments are frozen.
 *
 * @throws the cause if conversion is impossible; nothing is read or written then.
 */
export type ObjectConverter = (objects: readonly Frozen[], apiVersion: string) => Promise<readonly ApiObject[]>

export interface ConversionParts {
  /** The version of the request, and the storage version. */
  readonly apiVersion: string
  readonly storedVersion: string
  /** By apiVersion. */
  readonly kinds: ReadonlyMap<string, KindInfo>
  readonly converter: ObjectConverter
}

/** Converts between one served version and the storage version. Members unknown to a version are dropped. */
export function objectConversion({ apiVersion, storedVersion, kinds, converter }: ConversionParts): ObjectConversion {
  const dropUnknown = (object: ApiObject | Frozen, version: string): ApiObject => {
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
      const otherVersions = written.filter((object) => object.apiVersion !== apiVersion)
      if (otherVersions.length === 0) return written
      const converted = await converter(otherVersions as unknown as Frozen[], apiVersion)
      let next = 0
      return written.map((object) =>
        object.apiVersion === apiVersion ? object : dropUnknown(converted[next++] as ApiObject, apiVersion),
      )
    },
    async convert(object, version) {
      const [converted] = await converter([object as Frozen], version)
      return converted as ApiObject
    },
    async write(object) {
      if (object.apiVersion === storedVersion) return object as ApiObject
      const [converted] = await converter([object], storedVersion)
      return dropUnknown(converted as ApiObject, storedVersion)
    },
  }
}
