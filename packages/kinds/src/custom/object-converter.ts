import { createTurns, startWork, type Work } from '@krmkit/base/work'
import type { ApiObject, DeepReadonly, JsonObject } from '@krmkit/meta'
import { normalize } from '@krmkit/schema/paced'
import type { KindInfo } from '../interfaces.ts'
import type { ConversionPurpose, ObjectConversion } from '../object-conversion.ts'

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
export type ObjectConverter = (
  objects: readonly Frozen[],
  apiVersion: string,
  options?: ConversionPurpose,
) => Promise<readonly ApiObject[]>

export interface ConversionParts {
  /** The version of the request, and the storage version. */
  readonly apiVersion: string
  readonly storedVersion: string
  /** By apiVersion. */
  readonly kinds: ReadonlyMap<string, KindInfo>
  readonly converter: ObjectConverter
}

/** Converts between one served version and the storage version, large objects in slices. Members unknown to a version are dropped. */
export function objectConversion({ apiVersion, storedVersion, kinds, converter }: ConversionParts): ObjectConversion {
  const turns = createTurns()
  function* readWritten(objects: readonly Frozen[]): Work<ApiObject[]> {
    const written: ApiObject[] = []
    for (const object of objects) {
      const codec = kinds.get(object.apiVersion)?.type().custom
      const read = codec === undefined ? object : yield* codec.paced.readStored(object as unknown as JsonObject)
      written.push(read as unknown as ApiObject)
    }
    return written
  }
  function* dropUnknown(objects: readonly ApiObject[], version: string): Work<ApiObject[]> {
    const type = kinds.get(version)?.type()
    const codec = type?.custom
    if (type === undefined || codec === undefined) return [...objects]
    const known: ApiObject[] = []
    for (const object of objects) {
      const rest = yield* codec.paced.dropUnknownFields(object as unknown as JsonObject)
      known.push((yield* normalize(type, rest)) as unknown as ApiObject)
    }
    return known
  }
  return {
    async read(objects, purpose) {
      const written = await startWork(readWritten(objects), turns)
      const otherVersions = written.filter((object) => object.apiVersion !== apiVersion)
      if (otherVersions.length === 0) return written
      const converted = await converter(otherVersions as unknown as Frozen[], apiVersion, purpose)
      const known = await startWork(dropUnknown(converted, apiVersion), turns)
      let next = 0
      return written.map((object) => (object.apiVersion === apiVersion ? object : (known[next++] as ApiObject)))
    },
    async convert(object, version) {
      const [converted] = await converter([object as Frozen], version)
      return converted as ApiObject
    },
    async write(object, purpose) {
      if (object.apiVersion === storedVersion) return object as ApiObject
      const converted = await converter([object], storedVersion, purpose)
      const [known] = await startWork(dropUnknown(converted, storedVersion), turns)
      return known as ApiObject
    },
  }
}
