import type { StructType } from '@krmkit/schema'
import type { TypeConverter } from '../managed-fields/type-converter.ts'
import { deducedType } from '../typed/deduced.ts'
import { typedSchemaOf, zeroObjectOf } from '../typed/from-struct.ts'
import { TypeRef } from '../typed/types.ts'

/** The type of an object; without one, maps are granular and lists atomic. */
export type OfflineSchema = TypeRef | StructType | undefined

export function typeOf(schema: OfflineSchema): TypeRef {
  if (schema === undefined) return deducedType
  return schema instanceof TypeRef ? schema : typedSchemaOf(schema)
}

/** A converter for a kind with the same schema in every version. */
export function typeConverterOf(schema: OfflineSchema): TypeConverter {
  const type = typeOf(schema)
  const zero = schema === undefined || schema instanceof TypeRef ? {} : zeroObjectOf(schema)
  return { typed: () => type, zero: () => zero }
}
