import { type GroupVersionKind, type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import type { Field, ScalarNode, StructType, TypeNode } from '../interfaces.ts'
import { describeField, describeType } from './descriptions.ts'
import { type Dialect, refTo } from './dialect.ts'
import { capitalize } from './operations.ts'
import { specialName } from './special.ts'

/**
 * Converts a structural type to its schema. Both dialects share required members, `x-kubernetes-` extensions and node schemas. They
 * differ in two respects:
 *
 * - version 3 includes defaults and wraps a reference with siblings in `allOf`,
 * - version 2 omits defaults and puts siblings next to the reference.
 */

export interface TypeSchemaOptions {
  /** Group version kinds of the type. Default: for root types, their own kind. */
  readonly kindsOf?: (type: StructType) => readonly GroupVersionKind[]
  /** Whether the values of enums are listed. Default true. */
  readonly enums?: boolean
}

/** The schema of `type` as a named definition. Nested structs are references. */
export function typeSchema(type: StructType, dialect: Dialect, options: TypeSchemaOptions = {}): JsonObject {
  const schema: JsonObject = { description: describeType(type) }
  const properties: JsonObject = {}
  const { enums = true } = options
  for (const field of type.fields) setMember(properties, field.json, fieldSchema(type, field, { dialect, enums }))
  if (type.fields.length > 0) schema.properties = properties
  const required = type.fields.filter(isRequired).map((field) => field.json)
  if (required.length > 0) schema.required = required
  schema.type = 'object'
  if (type.preserveUnknown) schema['x-kubernetes-preserve-unknown-fields'] = true
  const kinds = (options.kindsOf ?? ownKind)(type)
  if (kinds.length > 0)
    schema['x-kubernetes-group-version-kind'] = kinds.map(({ group, kind, version }) => ({ group, kind, version }))
  if (type.structType !== undefined) schema['x-kubernetes-map-type'] = type.structType
  const unions = unionsOf(type)
  if (unions.length > 0) schema['x-kubernetes-unions'] = unions
  return schema
}

/** Whether the enclosing schema lists the member as required. */
export function isRequired(field: Field): boolean {
  return !field.optional && (field.required || !field.omitEmpty)
}

function ownKind(type: StructType): readonly GroupVersionKind[] {
  return type.root ? [{ group: type.group, version: type.version, kind: type.typeName }] : []
}

/** Options of schema generation. */
interface Form {
  readonly dialect: Dialect
  readonly enums: boolean
}

function fieldSchema(type: StructType, field: Field, form: Form): JsonObject {
  const { dialect } = form
  const extras: JsonObject = {}
  const description = describeField(type, field)
  if (description !== '' && !(dialect === 'v3' && field.noDoc)) extras.description = description
  const fallback = defaultOf(field)
  if (dialect === 'v3' && fallback !== undefined) extras.default = structuredClone(fallback)
  Object.assign(extras, extensionsOf(field))
  return withReference(nodeSchema(field.type, form), extras, { dialect, wrap: !field.noDoc })
}

/** Version 3 allows no siblings of a reference, so a reference with siblings is wrapped in `allOf`. */
function withReference(schema: JsonObject, extras: JsonObject, options: { dialect: Dialect; wrap: boolean }): JsonObject {
  const alone = Object.keys(extras).length === 0 && !options.wrap
  if (options.dialect === 'v2' || schema.$ref === undefined || alone) return { ...extras, ...schema }
  return { allOf: [schema], ...extras }
}

function nodeSchema(node: TypeNode, form: Form): JsonObject {
  const { dialect } = form
  switch (node.kind) {
    case 'scalar':
      return scalarSchema(node, form)
    case 'struct':
      return { $ref: refTo(node.struct().openapiName, dialect) }
    case 'special':
      return { $ref: refTo(specialName(node), dialect) }
    case 'list':
      return { items: elementSchema(node.of, form), type: 'array' }
    case 'map':
      return { additionalProperties: elementSchema(node.of, form), type: 'object' }
  }
}

/** Returns the schema of list and map elements, which have the default of a field of their type. */
function elementSchema(node: TypeNode, form: Form): JsonObject {
  const { dialect } = form
  const zero = dialect === 'v3' ? zeroOf(node) : undefined
  return withReference(nodeSchema(node, form), zero === undefined ? {} : { default: zero }, { dialect, wrap: false })
}

function scalarSchema(node: ScalarNode, { enums }: Form): JsonObject {
  const schema: JsonObject = {}
  if (enums && node.enum !== undefined && node.enum.length > 0 && !node.enumHidden) schema.enum = [...node.enum].sort()
  const [type, format] = scalarTypes[node.scalar]
  if (format !== undefined) schema.format = format
  if (type !== undefined) schema.type = type
  return schema
}

const scalarTypes: Readonly<Record<ScalarNode['scalar'], readonly [type?: string, format?: string]>> = {
  string: ['string'],
  bool: ['boolean'],
  int32: ['integer', 'int32'],
  int64: ['integer', 'int64'],
  float64: ['number', 'double'],
  bytes: ['string', 'byte'],
  any: [],
}

/** Returns the default in version 3: the value that an absent member decodes to. */
export function defaultOf(field: Field): JsonValue | undefined {
  if (field.default !== undefined) return field.default
  if (field.pointer) return undefined
  if (field.type.kind === 'struct') return {}
  return field.omitEmpty ? undefined : zeroOf(field.type)
}

function zeroOf(node: TypeNode): JsonValue | undefined {
  if (node.kind === 'struct') return {}
  return node.kind === 'scalar' ? zeroes[node.scalar] : undefined
}

const zeroes: Readonly<Partial<Record<ScalarNode['scalar'], JsonValue>>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  float64: 0,
}

function extensionsOf(field: Field): JsonObject {
  const extensions: JsonObject = {}
  if (field.listMapKeys !== undefined) extensions['x-kubernetes-list-map-keys'] = [...field.listMapKeys]
  if (field.listType !== undefined) extensions['x-kubernetes-list-type'] = field.listType
  const mapType = field.mapType ?? field.structType
  if (mapType !== undefined) extensions['x-kubernetes-map-type'] = mapType
  if (field.patchMergeKey !== undefined) extensions['x-kubernetes-patch-merge-key'] = field.patchMergeKey
  if (field.patchStrategy !== undefined) extensions['x-kubernetes-patch-strategy'] = field.patchStrategy
  return extensions
}

/** Returns the union extensions: every optional member is an alternative. */
function unionsOf(type: StructType): JsonObject[] {
  if (!type.union) return []
  const discriminator = type.fields.find((field) => field.unionDiscriminator)
  const fields: JsonObject = {}
  for (const field of type.fields) {
    if (field !== discriminator && field.optional) setMember(fields, field.json, capitalize(field.json))
  }
  const union: JsonObject = discriminator === undefined ? {} : { discriminator: discriminator.json }
  union['fields-to-discriminateBy'] = fields
  return [union]
}
