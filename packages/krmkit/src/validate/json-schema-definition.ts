import { type GroupVersionKind, isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { ownMember } from './objects.ts'
import { ValidateError } from './validate-error.ts'

/** Converts JSON schemas, such as those in schema catalogs, to definitions of custom resources. */

/** A CustomResourceDefinition as JSON. */
export interface DefinitionObject extends JsonObject {
  readonly kind: string
}

const maxDepth = 64
/** Maximum number of schema parts, because references may repeat a schema many times. */
const maxParts = 100_000

/** The document being converted. */
interface Document {
  readonly root: JsonObject
  parts: number
}

/** The position of a schema: its depth, and the references that led to it. */
interface Place {
  readonly document: Document
  readonly depth: number
  readonly inside: readonly string[]
}

const below = (at: Place): Place => ({ ...at, depth: at.depth + 1 })

/** Keywords with the same meaning in a definition. */
const sameKeywords: readonly string[] = [
  'format',
  'nullable',
  'default',
  'enum',
  'minimum',
  'maximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'required',
]

/**
 * Builds a CustomResourceDefinition of one version from the JSON schema of its objects. A JSON schema does not specify
 * whether objects have a namespace, so the definition accepts objects with and without one. Descriptions are omitted.
 *
 * References (`$ref`) within the document are followed. The result is less strict than the original definition: unknown
 * fields are reported only in objects with `additionalProperties: false`, and references to other documents and to a schema
 * that holds the reference accept any value.
 *
 * @throws ValidateError `InvalidSchema` when the schema is not that of an object, a reference names no schema of the document, or the
 *   schema nests deeper than 64 levels or has more than 100 000 parts with its references.
 * @example
 * import { definitionFromJsonSchema, validateManifests } from 'krmkit/validate'
 * const schema = { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer', minimum: 1 } } } } }
 * const kind = { group: 'shop.example.com', version: 'v1', kind: 'Widget' }
 * const text = 'apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: 0}\n'
 * const definitions = [definitionFromJsonSchema(kind, schema)]
 * const { findings } = await validateManifests([{ path: 'a.yaml', text }], { definitions })
 * findings[0]?.path // 'spec.size'
 */
export function definitionFromJsonSchema({ group, version, kind }: GroupVersionKind, schema: unknown): DefinitionObject {
  const openAPIV3Schema = rootSchema(schema)
  const plural = `${kind.toLowerCase()}s`
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  }
}

/** Converts the root schema. Members that every object has get fixed schemas, because they are validated by their types. */
function rootSchema(schema: unknown): JsonObject {
  if (!isJsonObject(schema)) throw invalid('it is not a JSON object')
  const converted = convert(schema, { document: { root: schema, parts: 0 }, depth: 0, inside: [] })
  if (converted.type !== undefined && converted.type !== 'object') throw invalid('it is not the schema of an object')
  const always = ['apiVersion', 'kind', 'metadata']
  const required = Array.isArray(converted.required) ? converted.required.filter((name) => !always.includes(String(name))) : []
  const { required: _, properties, ...rest } = converted
  return {
    ...rest,
    type: 'object',
    properties: {
      ...(isJsonObject(properties) ? properties : {}),
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
    },
    ...(required.length === 0 ? {} : { required }),
  }
}

function convert(schema: JsonObject, at: Place): JsonObject {
  if (at.depth > maxDepth) throw invalid(`it nests deeper than ${maxDepth} levels`)
  if (++at.document.parts > maxParts) throw invalid(`it has more than ${maxParts} parts with its references`)
  const reference = ownMember(schema, '$ref')
  if (typeof reference === 'string') return convertReference(reference, at)
  if (reference !== undefined) throw invalid('a $ref is not a text')
  const nullable = withoutNull(schema)
  if (nullable !== undefined) return { ...convert(nullable, below(at)), nullable: true }
  const converted: JsonObject = { ...facts(schema), ...bounds(schema) }
  const constant = ownMember(schema, 'const')
  if (constant !== undefined) converted.enum = [constant as JsonValue]
  if (isIntOrString(schema)) return { ...converted, 'x-kubernetes-int-or-string': true }
  const type = ownMember(schema, 'type')
  if (typeof type === 'string') converted.type = type
  Object.assign(converted, parts(schema, at), alternatives(schema, at))
  if (isOpen(schema)) converted['x-kubernetes-preserve-unknown-fields'] = true
  return converted
}

/** Converts a referenced schema, such as `#/definitions/Size`. Other documents and recursive schemas accept any value. */
function convertReference(reference: string, at: Place): JsonObject {
  if (!reference.startsWith('#') || at.inside.includes(reference)) return { 'x-kubernetes-preserve-unknown-fields': true }
  const target = memberAt(at.document.root, reference.slice(1))
  if (!isJsonObject(target)) throw invalid(`it has no schema at ${JSON.stringify(reference)}`)
  return convert(target, { ...below(at), inside: [...at.inside, reference] })
}

/** Returns the value at a JSON pointer. */
function memberAt(root: JsonObject, pointer: string): JsonValue | undefined {
  let value: unknown = root
  for (const part of pointer.split('/').slice(1))
    value = typeof value === 'object' && value !== null ? ownMember(value, unescaped(part)) : undefined
  return value as JsonValue | undefined
}

/** Unescapes a part of a pointer in a URL fragment. */
function unescaped(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return part
  }
}

/** Copies the keywords with the same meaning in both kinds of schemas. */
function facts(schema: JsonObject): JsonObject {
  const isSame = (name: string) => sameKeywords.includes(name) || name.startsWith('x-kubernetes-')
  return Object.fromEntries(Object.entries(schema).filter(([name]) => isSame(name)))
}

/** Converts exclusive bounds, which are numbers in JSON schema and booleans in definitions. */
function bounds(schema: JsonObject): JsonObject {
  const converted: JsonObject = {}
  for (const [name, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    const value = ownMember(schema, exclusive)
    if (typeof value === 'number') Object.assign(converted, { [name]: value, [exclusive]: true })
    else if (typeof value === 'boolean') converted[exclusive] = value
  }
  return converted
}

/** Converts the schemas of the parts of a value. */
function parts(schema: JsonObject, at: Place): JsonObject {
  const converted: JsonObject = {}
  const properties = ownMember(schema, 'properties')
  if (isJsonObject(properties)) {
    converted.properties = Object.fromEntries(
      Object.entries(properties).map(([name, each]) => [name, convertAny(each, below(at))]),
    )
  }
  const items = ownMember(schema, 'items')
  if (items !== undefined) converted.items = convertAny(items as JsonValue, below(at))
  const more = ownMember(schema, 'additionalProperties')
  if (isJsonObject(more) && converted.properties === undefined) converted.additionalProperties = convert(more, below(at))
  return converted
}

function alternatives(schema: JsonObject, at: Place): JsonObject {
  const converted: JsonObject = {}
  for (const name of ['allOf', 'anyOf', 'oneOf']) {
    const branches = ownMember(schema, name)
    if (Array.isArray(branches)) converted[name] = branches.filter(isJsonObject).map((each) => convertBranch(each, below(at)))
  }
  const not = ownMember(schema, 'not')
  if (isJsonObject(not)) converted.not = convertBranch(not, below(at))
  return converted
}

/** Converts an alternative, which validates values but does not determine unknown fields. */
function convertBranch(schema: JsonObject, at: Place): JsonObject {
  const { 'x-kubernetes-preserve-unknown-fields': _, ...converted } = convert(schema, at)
  return converted
}

function convertAny(schema: JsonValue, at: Place): JsonObject {
  return isJsonObject(schema) ? convert(schema, at) : { 'x-kubernetes-preserve-unknown-fields': true }
}

/** Returns the schema of non-null values if null is allowed: `type: [string, null]`, or an alternative that is null. */
function withoutNull(schema: JsonObject): JsonObject | undefined {
  const type = ownMember(schema, 'type')
  if (Array.isArray(type) && type.includes('null')) {
    const others = type.filter((each) => each !== 'null')
    return { ...schema, type: others.length === 1 ? (others[0] as JsonValue) : others }
  }
  for (const name of ['anyOf', 'oneOf']) {
    const branches = ownMember(schema, name)
    if (!Array.isArray(branches) || branches.length !== 2) continue
    const other = branches.filter((each) => !(isJsonObject(each) && ownMember(each, 'type') === 'null'))
    if (other.length !== 1 || !isJsonObject(other[0])) continue
    const { [name]: _, ...rest } = schema
    return { ...rest, ...other[0] }
  }
  return undefined
}

function isIntOrString(schema: JsonObject): boolean {
  if (ownMember(schema, 'x-kubernetes-int-or-string') === true || ownMember(schema, 'format') === 'int-or-string') return true
  const types = (list: unknown) =>
    Array.isArray(list) &&
    list
      .map((each) => (isJsonObject(each) ? ownMember(each, 'type') : each))
      .sort()
      .join() === 'integer,string'
  return ['type', 'anyOf', 'oneOf'].some((name) => types(ownMember(schema, name)))
}

/** Whether unknown fields are accepted: in JSON schema, unless `additionalProperties` forbids them. */
function isOpen(schema: JsonObject): boolean {
  const type = ownMember(schema, 'type')
  if (type !== undefined && type !== 'object' && !Array.isArray(type)) return false
  const more = ownMember(schema, 'additionalProperties')
  return more === undefined || more === true || (isJsonObject(more) && ownMember(schema, 'properties') !== undefined)
}

function invalid(message: string): ValidateError {
  return new ValidateError({ code: 'InvalidSchema', message: `the schema is invalid: ${message}` })
}
