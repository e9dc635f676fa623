import { type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import type { CustomCodec, Field, ScalarNode, SpecialNode, StructType, TypeNode } from '@krmkit/schema'
import { fieldElement } from '../fieldpath/element.ts'
import { deducedType, untypedType } from './deduced.ts'
import { typedSchemaFromOpenApi } from './from-openapi.ts'
import { atomOf, listAtom, type MapField, type ScalarAtom, TypeRef, withRelationship } from './types.ts'

const typedByStruct = new WeakMap<StructType, TypeRef>()
const zeroByStruct = new WeakMap<StructType, JsonObject>()

/**
 * The typed schema of a structural type; cached per type.
 *
 * Lists are atomic unless marked as set or map, or merged by key in strategic merge patches. Structs and maps are granular unless
 * marked as atomic. Structs without fields and parts that preserve unknown members are deduced.
 *
 * @see API protocol specification, 4.7
 * @example
 * ```ts
 * import { typedSchemaOf, validateValue } from '@krmkit/fieldmanager/typed'
 * import { builtInTypes } from '@krmkit/kinds'
 *
 * const deployment = typedSchemaOf(builtInTypes().struct('apps/v1.Deployment'))
 * validateValue({ spec: { replica: 3 } }, deployment) // ['.spec.replica: field not declared in schema']
 * ```
 */
export function typedSchemaOf(type: StructType): TypeRef {
  let ref = typedByStruct.get(type)
  if (ref === undefined) {
    ref = type.custom === undefined ? new TypeRef(type.openapiName, () => structAtom(type)) : customSchema(type, type.custom)
    typedByStruct.set(type, ref)
  }
  return ref
}

/**
 * The serialized zero value of the type, which a kube-apiserver compares created objects with. Frozen.
 *
 * @example
 * ```ts
 * import { zeroObjectOf } from '@krmkit/fieldmanager/typed'
 * import { builtInTypes } from '@krmkit/kinds'
 *
 * const pod = builtInTypes().struct('core/v1.Pod')
 * zeroObjectOf(pod) // { metadata: { creationTimestamp: null }, spec: { containers: null }, status: {} }
 * ```
 */
export function zeroObjectOf(type: StructType): JsonObject {
  let zero = zeroByStruct.get(type)
  if (zero === undefined) {
    zero = {}
    for (const field of type.fields) if (field.zero !== undefined) setMember(zero, field.json, zeroOf(field, field.zero))
    zeroByStruct.set(type, Object.freeze(zero))
  }
  return zero
}

function zeroOf({ type }: Field, zero: JsonValue): JsonValue {
  return type.kind === 'struct' && typeof zero === 'object' && zero !== null ? zeroObjectOf(type.struct()) : zero
}

/** Custom resources carry field management markers in their OpenAPI schema. */
function customSchema({ raw }: StructType, { objectMeta, preserveUnknownFields }: CustomCodec): TypeRef {
  const metadata = typedSchemaOf(objectMeta)
  const text = scalarTypes.string
  return typedSchemaFromOpenApi(raw as JsonObject, {
    root: { apiVersion: text, kind: text, metadata },
    metadata,
    preserveUnknownFields,
  })
}

function structAtom(type: StructType) {
  const fields = new Map<string, MapField>()
  for (const field of type.fields) {
    fields.set(field.json, {
      name: field.json,
      element: fieldElement(field.json),
      type: fieldType(field),
      default: keyDefault(field),
    })
  }
  const open = type.fields.length === 0 || type.preserveUnknown === true
  return atomOf({ map: { fields, items: open ? deducedType : undefined, atomic: type.structType === 'atomic' } })
}

function fieldType(field: Field): TypeRef {
  const { type } = field
  switch (type.kind) {
    case 'list':
      return listType(field, nodeType(type.of))
    case 'map':
      return mapType(nodeType(type.of), field.mapType === 'atomic')
    case 'struct': {
      const struct = nodeType(type)
      const relationship = field.structType ?? field.mapType
      return relationship === undefined ? struct : withRelationship(struct, relationship)
    }
    default:
      return nodeType(type)
  }
}

function listType(field: Field, items: TypeRef): TypeRef {
  if (field.listType !== undefined) {
    const keys = field.listType === 'map' ? (field.listMapKeys ?? []) : []
    return new TypeRef(undefined, () => atomOf({ list: listAtom(items, field.listType === 'atomic', keys) }))
  }
  const merged = field.patchStrategy?.split(',').includes('merge') === true
  const keys = merged && field.patchMergeKey !== undefined ? [field.patchMergeKey] : []
  return new TypeRef(undefined, () => atomOf({ list: listAtom(items, !merged, keys) }))
}

function mapType(items: TypeRef, atomic: boolean): TypeRef {
  return new TypeRef(undefined, () => atomOf({ map: { fields: new Map(), items, atomic } }))
}

/** The type of list elements and map members, which have no markers. */
function nodeType(node: TypeNode): TypeRef {
  switch (node.kind) {
    case 'scalar':
      return scalarType(node)
    case 'struct':
      return new TypeRef(undefined, () => typedSchemaOf(node.struct()).atom)
    case 'special':
      return specialType(node)
    case 'list': {
      const items = nodeType(node.of)
      return new TypeRef(undefined, () => atomOf({ list: listAtom(items, true) }))
    }
    default:
      return mapType(nodeType(node.of), false)
  }
}

const scalarTypes: Readonly<Record<ScalarAtom, TypeRef>> = {
  string: new TypeRef(undefined, () => atomOf({ scalar: 'string' })),
  numeric: new TypeRef(undefined, () => atomOf({ scalar: 'numeric' })),
  boolean: new TypeRef(undefined, () => atomOf({ scalar: 'boolean' })),
  untyped: new TypeRef(undefined, () => atomOf({ scalar: 'untyped' })),
}

function scalarType({ scalar }: ScalarNode): TypeRef {
  switch (scalar) {
    case 'string':
    case 'bytes':
      return scalarTypes.string
    case 'bool':
      return scalarTypes.boolean
    case 'any':
      return deducedType
    default:
      return scalarTypes.numeric
  }
}

function specialType({ special }: SpecialNode): TypeRef {
  switch (special) {
    case 'RawExtension':
    case 'Unknown':
      return untypedType
    case 'JSON':
    case 'JSONSchemaPropsOrArray':
    case 'JSONSchemaPropsOrBool':
    case 'JSONSchemaPropsOrStringArray':
    case 'FieldsV1':
    case 'RuntimeTypeMeta':
      return deducedType
    default:
      return scalarTypes.untyped
  }
}

/** The value of a key field that an item omits. */
function keyDefault(field: Field): JsonValue | undefined {
  if (field.default !== undefined) return field.default
  if (field.pointer || field.omitEmpty || field.type.kind !== 'scalar') return undefined
  switch (field.type.scalar) {
    case 'string':
    case 'bytes':
      return ''
    case 'bool':
      return false
    case 'any':
      return undefined
    default:
      return 0
  }
}
