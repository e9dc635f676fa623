import { memberNames, runAtOnce, type Work } from '@krmkit/base/work'
import { type GroupVersionKind, isJsonObject, type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import type { StructType, TypeSource } from '../interfaces.ts'
import { own } from '../json/json-object.ts'
import { type Dialect, refTo } from './dialect.ts'
import type { LiteralSchema } from './schemas.ts'

/**
 * Publishes the OpenAPI schema of a custom resource: adds the members of every object and, in version 2, removes what
 * clients of that version do not support.
 */

export interface CustomSchemaOptions {
  readonly kind: GroupVersionKind
  readonly listKind: string
  /** `openAPIV3Schema` of the version. Default: any object. */
  readonly schema?: JsonObject
  /** `spec.preserveUnknownFields` */
  readonly preserveUnknownFields?: boolean
  /** JSON paths of the version's selectable fields. */
  readonly selectableFields?: readonly string[]
  readonly source: TypeSource
}

/** Schemas of a custom kind. */
export interface CustomSchemas {
  readonly body: LiteralSchema
  readonly list: LiteralSchema
}

/**
 * Creates the schemas of the objects and lists of a custom kind.
 *
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { createCustomSchemas } from '@krmkit/schema/openapi'
 * const schemas = createCustomSchemas({
 *   kind: { group: 'shop.example.com', version: 'v1', kind: 'Widget' },
 *   listKind: 'WidgetList',
 *   schema: { type: 'object', properties: { spec: { type: 'object' } } },
 *   source: builtInTypes(),
 * })
 * schemas.body.name // 'com.example.shop.v1.Widget'
 * Object.keys(schemas.body.of('v3')) // [ 'type', 'properties', 'x-kubernetes-group-version-kind' ]
 */
export function createCustomSchemas(options: CustomSchemaOptions): CustomSchemas {
  const objectMeta = options.source.struct('meta/v1.ObjectMeta')
  const listMeta = options.source.struct('meta/v1.ListMeta')
  return {
    body: {
      name: definitionName(options.kind),
      of: (dialect) => runAtOnce(bodyDefinition(options, objectMeta, dialect)),
      paced: { of: (dialect) => bodyDefinition(options, objectMeta, dialect) },
      uses: [objectMeta],
    },
    list: {
      name: definitionName({ ...options.kind, kind: options.listKind }),
      of: (dialect) => withKind(listSchema(options, listMeta, dialect), options, options.listKind),
      uses: [listMeta],
    },
  }
}

/** Definition name of a kind: `stable.example.com`, `v1`, `CronTab` becomes `com.example.stable.v1.CronTab`. */
export function definitionName({ group, version, kind }: GroupVersionKind): string {
  return [...group.split('.').reverse(), version, kind].join('.')
}

/** Text of `metadata`. Clients and conformance suites match the first words of the texts of common members. */
const metadataText = "Standard object's metadata: name, namespace, labels, annotations and metadata maintained by the server."
const typeMembers: JsonObject = {
  apiVersion: { description: 'APIVersion defines the group and version of this representation of the object.', type: 'string' },
  kind: { description: 'Kind of the object.', type: 'string' },
}

function metadataRef(meta: StructType, dialect: Dialect, text: string): JsonObject {
  const $ref = refTo(meta.openapiName, dialect)
  return dialect === 'v2' ? { description: text, $ref } : { allOf: [{ $ref }], description: text }
}

function withKind(schema: JsonObject, options: CustomSchemaOptions, kind: string): JsonObject {
  const { group, version } = options.kind
  schema['x-kubernetes-group-version-kind'] = [{ group, kind, version }]
  if (options.selectableFields !== undefined && options.selectableFields.length > 0) {
    schema['x-kubernetes-selectable-fields'] = options.selectableFields.map((path) => ({ fieldPath: path.replace(/^\./, '') }))
  }
  return schema
}

function* bodyDefinition(options: CustomSchemaOptions, objectMeta: StructType, dialect: Dialect): Work<JsonObject> {
  return withKind(yield* bodySchema(options, objectMeta, dialect), options, options.kind.kind)
}

/**
 * Builds the schema of objects. Omits properties if any member is allowed, because clients treat listed properties as the
 * only valid ones.
 */
function* bodySchema(options: CustomSchemaOptions, objectMeta: StructType, dialect: Dialect): Work<JsonObject> {
  const { schema } = options
  const open = options.preserveUnknownFields || schema?.['x-kubernetes-preserve-unknown-fields'] === true
  if (schema === undefined || (dialect === 'v2' && open)) return { type: 'object' }
  const published = yield* publish(schema, { dialect, objectMeta, depth: 0 })
  const properties = isJsonObject(published.properties) ? published.properties : {}
  published.properties = {
    ...typeMembers,
    ...properties,
    metadata: metadataRef(objectMeta, dialect, metadataText),
  }
  return published
}

function listSchema(options: CustomSchemaOptions, listMeta: StructType, dialect: Dialect): JsonObject {
  const items: JsonObject = {
    description: 'Objects of the list.',
    type: 'array',
    items: { $ref: refTo(definitionName(options.kind), dialect) },
  }
  return {
    description: `${options.listKind} is a list of ${options.kind.kind} objects.`,
    type: 'object',
    required: ['items'],
    properties: {
      ...typeMembers,
      items,
      metadata: metadataRef(listMeta, dialect, 'Version and continue token of the list.'),
    },
  }
}

interface PublishScope {
  readonly dialect: Dialect
  readonly objectMeta: StructType
  readonly depth: number
}

/** Maximum depth of published schemas; deeper levels are published as open objects. */
const maxDepth = 256

// biome-ignore format: a table
const plainKeywords: ReadonlySet<string> = new Set([
  'description', 'type', 'format', 'title', 'default', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum', 'maxLength',
  'minLength', 'pattern', 'maxItems', 'minItems', 'uniqueItems', 'multipleOf', 'enum', 'maxProperties', 'minProperties', 'required',
  'nullable', 'x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource', 'x-kubernetes-int-or-string',
  'x-kubernetes-list-map-keys', 'x-kubernetes-list-type', 'x-kubernetes-map-type', 'x-kubernetes-validations',
])

/** Converts a schema for publication; yields once per schema. */
function* publish(schema: JsonObject, at: PublishScope): Work<JsonObject> {
  if (at.depth > maxDepth) return { 'x-kubernetes-preserve-unknown-fields': true }
  yield
  const out: JsonObject = {}
  let isNested = false
  for (const keyword in schema) {
    const value = schema[keyword]
    if (value === undefined) continue
    if (plainKeywords.has(keyword)) out[keyword] = value
    else isNested = true
  }
  if (isNested) yield* copyNested(schema, out, at)
  if (at.dialect === 'v2') return restrictToVersion2(schema, out, at)
  if (isNested) yield* copyJunctors(schema, out, at)
  if (out['x-kubernetes-int-or-string'] === true && out.anyOf === undefined && out.allOf === undefined) {
    out.anyOf = [{ type: 'integer' }, { type: 'string' }]
  }
  return withEmbedded(out, at)
}

function* copyNested(schema: JsonObject, out: JsonObject, at: PublishScope): Work {
  const deeper = { ...at, depth: at.depth + 1 }
  const items = own(schema, 'items')
  if (isJsonObject(items)) out.items = yield* publish(items, deeper)
  const additional = own(schema, 'additionalProperties')
  if (isJsonObject(additional)) out.additionalProperties = yield* publish(additional, deeper)
  else if (typeof additional === 'boolean') out.additionalProperties = additional
  const properties = own(schema, 'properties')
  if (!isJsonObject(properties)) return
  const published: JsonObject = {}
  for (const name of memberNames(properties)) {
    const property = properties[name]
    if (isJsonObject(property)) setMember(published, name, yield* publish(property, deeper))
  }
  out.properties = published
}

function* copyJunctors(schema: JsonObject, out: JsonObject, at: PublishScope): Work {
  const deeper = { ...at, depth: at.depth + 1 }
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const alternatives = own(schema, keyword)
    if (!Array.isArray(alternatives)) continue
    const published: JsonObject[] = []
    for (const alternative of alternatives) if (isJsonObject(alternative)) published.push(yield* publish(alternative, deeper))
    out[keyword] = published
  }
  const not = own(schema, 'not')
  if (isJsonObject(not)) out.not = yield* publish(not, deeper)
}

/**
 * Removes what clients of version 2 do not support: untyped values with members, arrays without items, and required nullable
 * members.
 */
function restrictToVersion2(schema: JsonObject, out: JsonObject, at: PublishScope): JsonObject {
  const open = out['x-kubernetes-preserve-unknown-fields'] === true
  if (out.nullable === true) {
    delete out.type
    delete out.default
  }
  if (out.nullable === true || open) {
    delete out.items
    delete out.properties
  }
  delete out.nullable
  if ((out.items === undefined && out.type === 'array') || (open && out.type === 'object')) delete out.type
  const required = out.properties === undefined ? undefined : requiredInVersion2(schema, out)
  if (required !== undefined) out.required = required
  const additional = own(schema, 'additionalProperties')
  if ((isJsonObject(additional) && additional.nullable === true) || (Array.isArray(out.required) && out.required.length === 0)) {
    delete out.required
  }
  return open ? out : withEmbedded(out, at)
}

function requiredInVersion2(schema: JsonObject, out: JsonObject): JsonValue[] | undefined {
  const properties = own(schema, 'properties')
  if (!Array.isArray(out.required) || !isJsonObject(properties)) return undefined
  return out.required.filter((name) => {
    const property = typeof name === 'string' ? own(properties, name) : undefined
    return !isJsonObject(property) || property.nullable !== true
  })
}

/** Adds the members of an object to an embedded resource. */
function withEmbedded(out: JsonObject, at: PublishScope): JsonObject {
  if (out['x-kubernetes-embedded-resource'] !== true) return out
  const properties = isJsonObject(out.properties) ? out.properties : {}
  out.properties = {
    ...properties,
    ...typeMembers,
    metadata: metadataRef(at.objectMeta, at.dialect, metadataText),
  }
  const required = Array.isArray(out.required) ? out.required : []
  out.required = [...required, ...['kind', 'apiVersion'].filter((name) => !required.includes(name))]
  return out
}
