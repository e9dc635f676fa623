import type { StructType } from '@krmkit/schema'
import { requireStructType } from '../arguments.ts'
import type { TypeConverter } from '../managed-fields/type-converter.ts'
import { deducedType } from '../typed/deduced.ts'
import { typedSchemaOf } from '../typed/from-struct.ts'
import { TypeRef } from '../typed/types.ts'

/** The type of an object; without one, maps are granular and lists atomic. */
export type OfflineSchema = TypeRef | StructType | undefined

export function typeOf(schema: OfflineSchema): TypeRef {
  if (schema === undefined) return deducedType
  if (schema instanceof TypeRef) return schema
  requireStructType('`schema`', schema)
  return typedSchemaOf(schema)
}

/** A converter for a kind with the same schema in every version. Created objects have the members of their configuration only. */
export function typeConverterOf(schema: OfflineSchema): TypeConverter {
  const type = typeOf(schema)
  return { typed: () => type }
}
