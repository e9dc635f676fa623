import type { ApiObject, DeepReadonly, JsonObject, JsonValue } from '@krmkit/meta'
import type { StructType } from '@krmkit/schema'
import type { SetFilter } from '../fieldpath/set-filter.ts'
import { deducedType } from '../typed/deduced.ts'
import { typedSchemaOf, zeroObjectOf } from '../typed/from-struct.ts'
import { TypeRef } from '../typed/types.ts'

/** An object as storage hands it out: frozen and shared. */
export type FrozenObject = DeepReadonly<ApiObject>

/** A kind in every version that owners may speak in. */
export interface ManagedTypes {
  /** Undefined for versions that are not known (any more): what was owned in their terms is forgotten. */
  typed(apiVersion: string): TypeRef | undefined
  /** What an object is before it exists: `{}`, or the members that a new one always prints. */
  zero?(apiVersion: string): JsonObject
  /**
   * The object in another version that `typed` knows; must be pure. Not called for the version the object is in. While an apply
   * is worked out, objects come without members that they must have, and with null where everything below has gone.
   */
  convert?(object: JsonObject, apiVersion: string): JsonObject
}

/** What ownership of is never kept, by version: fields that the path of the request resets. */
export type ResetFields = Readonly<Record<string, SetFilter>>

/**
 * A kind with a type for each version: a structural type, or a typed schema.
 *
 * @param convert for versions that differ in more than their `apiVersion`; their types must be different objects then.
 */
export function managedTypes(
  versions: Readonly<Record<string, () => StructType | TypeRef>>,
  convert?: (object: JsonObject, apiVersion: string) => JsonObject,
): ManagedTypes {
  const known = (apiVersion: string): StructType | TypeRef | undefined =>
    Object.hasOwn(versions, apiVersion) ? (versions[apiVersion] as () => StructType | TypeRef)() : undefined
  return {
    typed(apiVersion) {
      const type = known(apiVersion)
      return type === undefined || type instanceof TypeRef ? type : typedSchemaOf(type)
    },
    zero(apiVersion) {
      const type = known(apiVersion)
      return type === undefined || type instanceof TypeRef ? {} : zeroObjectOf(type)
    },
    ...(convert === undefined ? {} : { convert }),
  }
}

/** A kind without a schema: maps are granular, lists atomic, in every version. */
export const deducedTypes: ManagedTypes = { typed: () => deducedType }

/** The object without its owners, as ownership is worked out of it. */
export function withoutManagedFields(object: FrozenObject): JsonObject {
  const { metadata } = object
  if (metadata === undefined || metadata === null || !Object.hasOwn(metadata, 'managedFields'))
    return object as unknown as JsonObject
  const { managedFields: _, ...rest } = metadata
  return { ...object, metadata: rest } as unknown as JsonObject
}

/** The object with these owners; they stand last in metadata. The same object when it has them already. */
export function withManagedFields<T extends FrozenObject>(object: T, entries: readonly JsonValue[] | undefined): T {
  const old = object.metadata?.managedFields as readonly unknown[] | undefined
  if (old === entries) return object
  const { managedFields: _, ...rest } = object.metadata ?? {}
  return { ...object, metadata: entries === undefined ? rest : { ...rest, managedFields: entries } }
}
