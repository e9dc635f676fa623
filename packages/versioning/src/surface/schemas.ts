import { isJsonObject, type JsonObject } from '@krmkit/meta'
import type { Field, StructType, TypeNode } from '@krmkit/schema'
import type { SurfaceMember, SurfaceSchema } from './interfaces.ts'

/** Creates schemas of surfaces from OpenAPI schemas and from structural types. */

const anything: SurfaceSchema = { type: '', open: true }

/** Finds the target of `$ref`. */
export type Resolve = (reference: string) => JsonObject | undefined

/** Converts an OpenAPI schema of version 2 or 3, or of a custom resource. */
export function schemaOfOpenApi(schema: unknown, resolve: Resolve): SurfaceSchema {
  if (!isJsonObject(schema)) return anything
  const reference = referenceOf(schema)
  if (reference !== undefined) {
    const target = resolve(reference)
    return target === undefined ? anything : { ...schemaOfOpenApi(target, resolve), name: reference }
  }
  const { type, format, properties, required, items, additionalProperties } = schema
  const wanted = new Set(Array.isArray(required) ? required : [])
  const members = isJsonObject(properties) ? membersOf(properties, wanted, resolve) : undefined
  const inner = isJsonObject(items) ? items : isJsonObject(additionalProperties) ? additionalProperties : undefined
  const values = Array.isArray(schema['enum']) ? schema['enum'].map(String) : undefined
  const intOrString = schema['x-kubernetes-int-or-string'] === true || format === 'int-or-string'
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || additionalProperties === true
  const named = typeof type === 'string' ? type : members === undefined ? '' : 'object'
  return {
    type: intOrString ? 'int-or-string' : named,
    open: isOpen || (members === undefined && inner === undefined),
    ...(members === undefined ? {} : { members }),
    ...(inner === undefined ? {} : { items: () => schemaOfOpenApi(inner, resolve) }),
    ...(values === undefined ? {} : { enum: values }),
  }
}

/** Returns the referenced name of a schema that only refers to another schema. */
function referenceOf(schema: JsonObject): string | undefined {
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined)
  const direct = text(schema['$ref'])
  if (direct !== undefined) return direct
  const { allOf } = schema
  // OpenAPI 3 wraps references that have a description or a default.
  const [only] = Array.isArray(allOf) && allOf.length === 1 ? allOf : []
  return isJsonObject(only) ? text(only['$ref']) : undefined
}

function membersOf(properties: JsonObject, required: ReadonlySet<unknown>, resolve: Resolve): Map<string, SurfaceMember> {
  return new Map(
    Object.entries(properties).map(([name, schema]) => [
      name,
      { required: required.has(name), schema: () => schemaOfOpenApi(schema, resolve) },
    ]),
  )
}

const scalarTypes: Readonly<Record<string, string>> = {
  bool: 'boolean',
  int32: 'integer',
  int64: 'integer',
  float64: 'number',
  bytes: 'string',
  any: '',
}

/** Converts a structural type. */
export function schemaOfType(type: StructType): SurfaceSchema {
  const members = new Map(type.fields.map((field) => [field.json, memberOf(field)]))
  return { name: type.name, type: 'object', members, open: type.preserveUnknown === true }
}

function memberOf(field: Field): SurfaceMember {
  return { required: field.required === true && field.optional !== true, schema: () => schemaOfNode(field.type) }
}

function schemaOfNode(node: TypeNode): SurfaceSchema {
  switch (node.kind) {
    case 'scalar': {
      const type = scalarTypes[node.scalar] ?? 'string'
      return { type, open: type === '', ...(node.enum === undefined ? {} : { enum: node.enum }) }
    }
    case 'struct':
      return schemaOfType(node.struct())
    case 'list':
      return { type: 'array', open: false, items: () => schemaOfNode(node.of) }
    case 'map':
      return { type: 'object', open: false, items: () => schemaOfNode(node.of) }
    case 'special':
      return node.special === 'IntOrString' ? { type: 'int-or-string', open: false } : anything
  }
}
