import type { JsonObject, JsonValue } from '@krmkit/meta'

/**
 * The structural part of an OpenAPI v3 schema: which members there are, which may be null, what is kept, what is filled in.
 * Worked out once for each schema.
 */
export interface SchemaNode {
  readonly properties: ReadonlyMap<string, SchemaNode>
  readonly items: SchemaNode | undefined
  /** A schema for members that are no properties; a boolean says whether there may be any. */
  readonly additional: SchemaNode | boolean | undefined
  readonly nullable: boolean
  readonly preserve: boolean
  readonly embedded: boolean
  readonly intOrString: boolean
  /** Empty for values of any type. */
  readonly type: string
  /** `undefined` without a default; null counts as none, as on the stock server. */
  readonly fallback: JsonValue | undefined
  readonly listType: 'atomic' | 'set' | 'map' | undefined
  readonly mapType: 'atomic' | 'granular' | undefined
  readonly mapKeys: readonly string[]
  /** Some value in here has a default. */
  readonly defaulting: boolean
  /** Some value in here is an embedded resource. */
  readonly embedding: boolean
  /** Some list in here is a set or a map. */
  readonly keyedLists: boolean
}

/** Schemas nested deeper keep everything. */
const maxDepth = 500

const noProperties: ReadonlyMap<string, SchemaNode> = new Map()

/** Reads a schema as it stands in a definition. Junctors add nothing to what is structural. */
export function schemaNode(schema: JsonObject, depth = 0): SchemaNode {
  const properties = depth > maxDepth ? noProperties : readProperties(own(schema, 'properties'), depth)
  const rawItems = own(schema, 'items')
  const items = isObject(rawItems) && depth <= maxDepth ? schemaNode(rawItems, depth + 1) : undefined
  const rest = own(schema, 'additionalProperties')
  const additional =
    typeof rest === 'boolean' ? rest : isObject(rest) && depth <= maxDepth ? schemaNode(rest, depth + 1) : undefined
  const fallback = own(schema, 'default') ?? undefined
  const listType = own(schema, 'x-kubernetes-list-type')
  const mapType = own(schema, 'x-kubernetes-map-type')
  const keys = own(schema, 'x-kubernetes-list-map-keys')
  const embedded = own(schema, 'x-kubernetes-embedded-resource') === true
  const inner = [...properties.values(), ...(items === undefined ? [] : [items]), ...(isNode(additional) ? [additional] : [])]
  const type = own(schema, 'type')
  return {
    properties,
    items,
    additional,
    nullable: own(schema, 'nullable') === true,
    preserve: own(schema, 'x-kubernetes-preserve-unknown-fields') === true || depth > maxDepth,
    embedded,
    intOrString: own(schema, 'x-kubernetes-int-or-string') === true,
    type: typeof type === 'string' ? type : '',
    fallback,
    listType: listType === 'set' || listType === 'map' || listType === 'atomic' ? listType : undefined,
    mapType: mapType === 'atomic' || mapType === 'granular' ? mapType : undefined,
    mapKeys: Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : [],
    defaulting: fallback !== undefined || inner.some((node) => node.defaulting),
    embedding: embedded || inner.some((node) => node.embedding),
    keyedLists: listType === 'set' || listType === 'map' || inner.some((node) => node.keyedLists),
  }
}

/** Whether there is an `x-kubernetes-validations` rule anywhere where it counts: not in junctors. */
export function hasRules(schema: JsonObject): boolean {
  return someRule(schema, () => true)
}

const oldSelf = /\boldSelf\b/

/** Whether a rule may look at what a value was before: even an update that changes nothing can break it. */
export function hasTransitionRules(schema: JsonObject): boolean {
  return someRule(schema, (rule) => isObject(rule) && oldSelf.test(String(own(rule, 'rule'))))
}

function someRule(schema: JsonObject, test: (rule: JsonValue) => boolean): boolean {
  const rules = own(schema, 'x-kubernetes-validations')
  if (Array.isArray(rules) && rules.some(test)) return true
  for (const keyword of ['items', 'additionalProperties']) {
    const inner = own(schema, keyword)
    if (isObject(inner) && someRule(inner, test)) return true
  }
  const properties = own(schema, 'properties')
  return isObject(properties) && Object.values(properties).some((property) => isObject(property) && someRule(property, test))
}

function readProperties(properties: JsonValue | undefined, depth: number): ReadonlyMap<string, SchemaNode> {
  if (!isObject(properties)) return noProperties
  const found = new Map<string, SchemaNode>()
  for (const [name, property] of Object.entries(properties))
    if (isObject(property)) found.set(name, schemaNode(property, depth + 1))
  return found
}

/** The schema of members that are no properties, where there is one. */
export function additionalNode({ additional }: SchemaNode): SchemaNode | undefined {
  return isNode(additional) ? additional : undefined
}

function isNode(value: SchemaNode | boolean | undefined): value is SchemaNode {
  return typeof value === 'object'
}

/** An own member: never one that every object inherits. */
export function own(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
