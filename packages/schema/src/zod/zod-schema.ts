import type { Field, ScalarNode, SpecialNode, StructType, TypeNode } from '../interfaces.ts'
import { isRequired } from '../openapi/type-schema.ts'
import { formats, z } from './formats.ts'

/**
 * Zod schemas from structural types, to check objects before they are sent, in a browser or a tool.
 *
 * Objects are strict: unknown members and `undefined` are errors. The schemas check the shape of values; validation rules of a kind
 * (a port below 65536, a DNS label) belong to its strategy.
 */

export interface ZodSchemaOptions {
  /** Whether to reject unknown enumeration values. Default true; false accepts values of later releases. */
  readonly enums?: boolean
  /** Whether to keep unknown members instead of rejecting them. Default false. */
  readonly loose?: boolean
}

/** Creates schemas and shares those of common types. */
export interface ZodSchemas {
  of(type: StructType): z.ZodType
}

/**
 * The zod schema of one type, whose objects are `T`. Use `createZodSchemas` for several types.
 *
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { createZodSchema } from '@krmkit/schema/zod'
 * const pod = createZodSchema(builtInTypes().struct('core/v1.Pod'))
 * pod.safeParse({ spec: { containers: 'none' } }).success // false
 */
export function createZodSchema<T = unknown>(type: StructType, options: ZodSchemaOptions = {}): z.ZodType<T> {
  return createZodSchemas(options).of(type) as z.ZodType<T>
}

/**
 * Creates zod schemas of several types.
 *
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { createZodSchemas } from '@krmkit/schema/zod'
 * const types = builtInTypes()
 * const schemas = createZodSchemas({ loose: true })
 * schemas.of(types.struct('core/v1.ConfigMap')).parse({ data: { a: '1' }, extra: 1 }) // { data: { a: '1' }, extra: 1 }
 */
export function createZodSchemas(options: ZodSchemaOptions = {}): ZodSchemas {
  const made = new Map<StructType, z.ZodType>()

  function of(type: StructType): z.ZodType {
    const known = made.get(type)
    if (known !== undefined) return known
    const schema = structSchema(type)
    made.set(type, schema)
    return schema
  }

  function structSchema(type: StructType): z.ZodType {
    const shape: Record<string, z.ZodType> = Object.create(null)
    for (const field of type.fields) shape[field.json] = fieldSchema(type, field)
    return options.loose || type.preserveUnknown ? z.looseObject(shape) : z.strictObject(shape)
  }

  function fieldSchema(type: StructType, field: Field): z.ZodType {
    const value = typeMember(type, field) ?? node(field.type)
    const orNull = field.zero === null ? z.nullable(value) : value
    return isRequired(field) ? orNull : z.exactOptional(orNull)
  }

  function node(at: TypeNode): z.ZodType {
    switch (at.kind) {
      case 'scalar':
        return scalarSchema(at, options.enums ?? true)
      case 'special':
        return specialSchema(at)
      case 'struct':
        return z.lazy(() => of(at.struct()))
      case 'list':
        return z.array(node(at.of))
      case 'map':
        return z.record(z.string(), node(at.of))
    }
  }

  function specialSchema({ special, struct }: SpecialNode): z.ZodType {
    switch (special) {
      case 'Time':
      case 'Timestamp':
        return formats.time()
      case 'MicroTime':
        return formats.microTime()
      case 'Duration':
        return formats.duration()
      case 'Quantity':
      case 'QuantityValue':
        return formats.quantity()
      case 'IntOrString':
        return formats.intOrString()
      case 'JSONSchemaPropsOrArray':
        return z.union([inner(struct), z.array(inner(struct))])
      case 'JSONSchemaPropsOrBool':
        return z.union([z.boolean(), inner(struct)])
      case 'JSONSchemaPropsOrStringArray':
        return z.union([z.array(z.string()), inner(struct)])
      case 'GroupVersion':
        return z.string()
      case 'JSON':
        return z.unknown()
      case 'FieldsV1':
      case 'RawExtension':
      case 'Unknown':
      case 'RuntimeTypeMeta':
        return z.record(z.string(), z.unknown())
    }
  }

  function inner(struct: SpecialNode['struct']): z.ZodType {
    return struct === undefined ? z.unknown() : z.lazy(() => of(struct()))
  }

  return { of }
}

/** Schema of a type meta member: a literal, except for kinds of every group (options, watch events). */
function typeMember(type: StructType, field: Field): z.ZodType | undefined {
  if (!type.root || type.name.startsWith('meta/')) return undefined
  if (field.json === 'kind') return z.literal(type.typeName)
  if (field.json === 'apiVersion') return z.literal(type.group === '' ? type.version : `${type.group}/${type.version}`)
  return undefined
}

function scalarSchema(node: ScalarNode, enums: boolean): z.ZodType {
  if (enums && node.enum !== undefined && node.enum.length > 0) return z.enum(node.enum as [string, ...string[]])
  switch (node.scalar) {
    case 'string':
      return z.string()
    case 'bool':
      return z.boolean()
    case 'int32':
      return formats.int32()
    case 'int64':
      return formats.int64()
    case 'float64':
      return z.number()
    case 'bytes':
      return formats.bytes()
    case 'any':
      return z.unknown()
  }
}
