import { memberNames } from '@krmkit/base/work'
import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { own } from './json/json-object.ts'

/**
 * The structural part of an OpenAPI v3 schema: properties, nullability, preserved fields and defaults. Computed once per schema.
 */
export interface SchemaNode {
  readonly properties: ReadonlyMap<string, SchemaNode>
  readonly items: SchemaNode | undefined
  /** Schema of additional properties; a boolean allows or forbids them. */
  readonly additionalProperties: SchemaNode | boolean | undefined
  readonly nullable: boolean
  readonly preserveUnknownFields: boolean
  readonly embeddedResource: boolean
  readonly intOrString: boolean
  /** Empty when unspecified. */
  readonly type: string
  /** `undefined` without a default; as on kube-apiserver, a null default counts as none. */
  readonly default: JsonValue | undefined
  readonly listType: 'atomic' | 'set' | 'map' | undefined
  readonly mapType: 'atomic' | 'granular' | undefined
  readonly listMapKeys: readonly string[]
  /** Whether a value inside has a default. */
  readonly containsDefaults: boolean
  /** Whether a value inside is an embedded resource. */
  readonly containsEmbedded: boolean
  /** Whether a list inside is a set or a map. */
  readonly containsKeyedLists: boolean
  /** Whether a value inside may be of any type. */
  readonly containsUntyped: boolean
}

/** Schemas below this depth preserve everything. */
const maxDepth = 500

const noProperties: ReadonlyMap<string, SchemaNode> = new Map()

/**
 * Reads a schema of a CustomResourceDefinition. Junctors do not contribute to the structure.
 *
 * @example
 * import { createSchemaNode } from '@krmkit/schema/structural'
 * createSchemaNode({ type: 'object', properties: { a: { default: 1 } } }).containsDefaults // true
 */
export function createSchemaNode(schema: JsonObject, depth = 0): SchemaNode {
  if (isPlain(schema) && depth <= maxDepth) return plainNode(schema.type)
  const properties = depth > maxDepth ? noProperties : readProperties(own(schema, 'properties'), depth)
  const rawItems = own(schema, 'items')
  const items = isJsonObject(rawItems) && depth <= maxDepth ? createSchemaNode(rawItems, depth + 1) : undefined
  const rest = own(schema, 'additionalProperties')
  const additional =
    typeof rest === 'boolean' ? rest : isJsonObject(rest) && depth <= maxDepth ? createSchemaNode(rest, depth + 1) : undefined
  const fallback = own(schema, 'default') ?? undefined
  const listType = own(schema, 'x-kubernetes-list-type')
  const mapType = own(schema, 'x-kubernetes-map-type')
  const keys = own(schema, 'x-kubernetes-list-map-keys')
  const embedded = own(schema, 'x-kubernetes-embedded-resource') === true
  const inner = [...properties.values(), ...(items === undefined ? [] : [items]), ...(isNode(additional) ? [additional] : [])]
  const type = own(schema, 'type')
  const intOrString = own(schema, 'x-kubernetes-int-or-string') === true
  const typed = intOrString || (typeof type === 'string' && type !== '')
  return {
    properties,
    items,
    additionalProperties: additional,
    nullable: own(schema, 'nullable') === true,
    preserveUnknownFields: own(schema, 'x-kubernetes-preserve-unknown-fields') === true || depth > maxDepth,
    embeddedResource: embedded,
    intOrString,
    type: typeof type === 'string' ? type : '',
    default: fallback,
    listType: listType === 'set' || listType === 'map' || listType === 'atomic' ? listType : undefined,
    mapType: mapType === 'atomic' || mapType === 'granular' ? mapType : undefined,
    listMapKeys: Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : [],
    containsDefaults: fallback !== undefined || inner.some((node) => node.containsDefaults),
    containsEmbedded: embedded || inner.some((node) => node.containsEmbedded),
    containsKeyedLists: listType === 'set' || listType === 'map' || inner.some((node) => node.containsKeyedLists),
    containsUntyped: !typed || inner.some((node) => node.containsUntyped),
  }
}

/** Keywords of the structure. A schema without any of them is described by its type alone. */
const structuralKeywords: ReadonlySet<string> = new Set([
  'properties',
  'items',
  'additionalProperties',
  'default',
  'nullable',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
])

function isPlain(schema: JsonObject): boolean {
  for (const keyword in schema) if (structuralKeywords.has(keyword)) return false
  return true
}

/** Shared nodes of schemas without structural keywords, by type. Most schemas of a definition are of this kind. */
const plainNodes: ReadonlyMap<JsonValue | undefined, SchemaNode> = new Map(
  ['', 'string', 'integer', 'number', 'boolean', 'object', 'array'].map((type) => [type, nodeOfType(type)]),
)

function plainNode(type: JsonValue | undefined): SchemaNode {
  return plainNodes.get(type) ?? nodeOfType(typeof type === 'string' ? type : '')
}

function nodeOfType(type: string): SchemaNode {
  return {
    properties: noProperties,
    items: undefined,
    additionalProperties: undefined,
    nullable: false,
    preserveUnknownFields: false,
    embeddedResource: false,
    intOrString: false,
    type,
    default: undefined,
    listType: undefined,
    mapType: undefined,
    listMapKeys: [],
    containsDefaults: false,
    containsEmbedded: false,
    containsKeyedLists: false,
    containsUntyped: type === '',
  }
}

/**
 * Whether the schema has `x-kubernetes-validations` rules outside of junctors.
 *
 * @example
 * import { hasValidationRules } from '@krmkit/schema/structural'
 * hasValidationRules({ 'x-kubernetes-validations': [{ rule: 'self.a > 0' }] }) // true
 */
export function hasValidationRules(schema: JsonObject): boolean {
  return someRule(schema, () => true)
}

const oldSelf = /\boldSelf\b/

/**
 * Whether a rule refers to `oldSelf`: an update without changes may violate it.
 *
 * @example
 * import { hasTransitionRules } from '@krmkit/schema/structural'
 * hasTransitionRules({ 'x-kubernetes-validations': [{ rule: 'self.a >= oldSelf.a' }] }) // true
 * @see {@link hasValidationRules}
 */
export function hasTransitionRules(schema: JsonObject): boolean {
  return someRule(schema, (rule) => isJsonObject(rule) && oldSelf.test(String(own(rule, 'rule'))))
}

function someRule(schema: JsonObject, test: (rule: JsonValue) => boolean): boolean {
  const rules = own(schema, 'x-kubernetes-validations')
  if (Array.isArray(rules) && rules.some(test)) return true
  for (const keyword of ['items', 'additionalProperties']) {
    const inner = own(schema, keyword)
    if (isJsonObject(inner) && someRule(inner, test)) return true
  }
  const properties = own(schema, 'properties')
  if (!isJsonObject(properties)) return false
  for (const name of memberNames(properties)) {
    const property = properties[name]
    if (isJsonObject(property) && someRule(property, test)) return true
  }
  return false
}

function readProperties(properties: JsonValue | undefined, depth: number): ReadonlyMap<string, SchemaNode> {
  if (!isJsonObject(properties)) return noProperties
  const found = new Map<string, SchemaNode>()
  for (const name of memberNames(properties)) {
    const property = properties[name]
    if (isJsonObject(property)) found.set(name, createSchemaNode(property, depth + 1))
  }
  return found
}

/** Schema of additional properties, if any. */
export function additionalNode({ additionalProperties: additional }: SchemaNode): SchemaNode | undefined {
  return isNode(additional) ? additional : undefined
}

function isNode(value: SchemaNode | boolean | undefined): value is SchemaNode {
  return typeof value === 'object'
}
