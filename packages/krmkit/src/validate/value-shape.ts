import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import type { Field, StructType, TypeNode } from '@krmkit/schema'
import { ownMember } from './objects.ts'

/** The shape of a value: a common view of the types of built-in kinds and the schemas of custom resources. */

export interface ValueShape {
  /** Type as text: `string`, `integer`, `PodSpec`, `[]Container`, `map[string]Quantity` */
  readonly type: string
  /** Name of the type of an object, such as `core/v1.PodSpec`. */
  readonly typeName?: string
  /** Members of an object with fixed members. */
  readonly members?: () => ReadonlyMap<string, MemberShape>
  /** Items of a list. */
  readonly items?: () => ValueShape
  /** Values of a map. */
  readonly values?: () => ValueShape
  /** Allowed values; absent: all values of the type. */
  readonly allowed?: readonly JsonValue[]
}

export interface MemberShape {
  readonly name: string
  readonly value: ValueShape
  readonly required: boolean
  readonly default?: JsonValue
  readonly listType?: 'atomic' | 'set' | 'map'
  readonly listMapKeys?: readonly string[]
  readonly mapType?: 'atomic' | 'granular'
  readonly featureGates?: readonly string[]
  /** Description in the schema of a custom resource. */
  readonly description?: string
  /** Further limits in the schema of a custom resource, such as `minimum: 1`. */
  readonly limits?: readonly string[]
  /** Name of the type that declares the member. */
  readonly owner?: string
  /** Whether a rule in the schema of a custom resource makes the member immutable. */
  readonly immutable?: boolean
}

const shapes = new WeakMap<StructType, ValueShape>()

/**
 * Returns the shape of the objects of a type.
 *
 * @example
 * import { Deployment } from '@krmkit/kinds/apps/v1'
 * import { shapeAt, shapeOf, valueShape } from 'krmkit/validate'
 * const replicas = shapeAt(shapeOf(Deployment.type()), ['spec', 'replicas'])
 * if (replicas !== undefined) valueShape(replicas).type // 'integer of 32 bits'
 */
export function shapeOf(type: StructType): ValueShape {
  const known = shapes.get(type)
  if (known !== undefined) return known
  const shape = type.custom === undefined ? structShape(type) : customShape(type, type.custom.objectMeta)
  shapes.set(type, shape)
  return shape
}

/** Returns the member or item at a step. */
export function shapeAfter(shape: ValueShape, step: string | number): MemberShape | ValueShape | undefined {
  if (typeof step === 'number') return shape.items?.()
  return shape.members?.().get(step) ?? shape.values?.()
}

/** Returns the value shape of a member, or a value shape itself; see {@link shapeOf}. */
export function valueShape(shape: MemberShape | ValueShape): ValueShape {
  return 'value' in shape ? shape.value : shape
}

/** Returns the shape at a path of members and items, see {@link shapeOf}; undefined if the type has no such path. */
export function shapeAt(root: ValueShape, steps: readonly (string | number)[]): MemberShape | ValueShape | undefined {
  let at: MemberShape | ValueShape | undefined = root
  for (const step of steps) at = at === undefined ? undefined : shapeAfter(valueShape(at), step)
  return at
}

function structShape(type: StructType): ValueShape {
  return {
    type: type.typeName,
    typeName: type.name,
    members: lazy(() => new Map(type.fields.map((field) => [field.json, fieldShape(field, type)]))),
  }
}

function fieldShape(field: Field, { name }: StructType): MemberShape {
  const { listType, listMapKeys, mapType = field.structType, featureGates } = field
  return {
    name: field.json,
    value: nodeShape(field.type),
    required: field.required,
    owner: field.promotedFrom ?? name,
    ...(field.default === undefined ? {} : { default: field.default }),
    ...(listType === undefined ? {} : { listType }),
    ...(listMapKeys === undefined ? {} : { listMapKeys }),
    ...(mapType === undefined ? {} : { mapType }),
    ...(featureGates === undefined ? {} : { featureGates }),
  }
}

const scalarNames = {
  string: 'string',
  bool: 'boolean',
  int32: 'integer of 32 bits',
  int64: 'integer of 64 bits',
  float64: 'number',
  bytes: 'base64 text',
  any: 'any value',
} as const

function nodeShape(node: TypeNode): ValueShape {
  switch (node.kind) {
    case 'struct':
      return shapeOf(node.struct())
    case 'list':
      return listShape(lazy(() => nodeShape(node.of)))
    case 'map':
      return mapShape(lazy(() => nodeShape(node.of)))
    case 'special':
      return node.struct === undefined ? { type: node.special } : { ...shapeOf(node.struct()), type: node.special }
    case 'scalar':
      if (node.scalar === 'bool') return { type: 'boolean', allowed: [true, false] }
      return { type: scalarNames[node.scalar], ...(node.enum === undefined ? {} : { allowed: node.enum }) }
  }
}

function listShape(items: () => ValueShape): ValueShape {
  return {
    items,
    get type() {
      return `[]${items().type}`
    },
  }
}

function mapShape(values: () => ValueShape): ValueShape {
  return {
    values,
    get type() {
      return `map[string]${values().type}`
    },
  }
}

function customShape(type: StructType, objectMeta: StructType): ValueShape {
  const schema = isJsonObject(type.raw) ? type.raw : {}
  return {
    type: type.typeName,
    typeName: type.name,
    members: lazy(() => new Map([...schemaMembers(schema), ...objectMembers(objectMeta)])),
  }
}

/** Returns the members that every object has. */
function objectMembers(objectMeta: StructType): [string, MemberShape][] {
  const text: ValueShape = { type: 'string' }
  const members: MemberShape[] = [
    { name: 'apiVersion', value: text, required: true },
    { name: 'kind', value: text, required: true },
    { name: 'metadata', value: shapeOf(objectMeta), required: false },
  ]
  return members.map((member) => [member.name, member])
}

function schemaMembers(schema: JsonObject): [string, MemberShape][] {
  const properties = ownMember(schema, 'properties')
  const required = ownMember(schema, 'required')
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name)
  return Object.entries(isJsonObject(properties) ? properties : {}).map(([name, property]) => [
    name,
    propertyShape(name, isJsonObject(property) ? property : {}, isRequired(name)),
  ])
}

const limitKeywords = ['format', 'pattern', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'multipleOf']

function propertyShape(name: string, schema: JsonObject, required: boolean): MemberShape {
  const text = (keyword: string) => {
    const value = ownMember(schema, keyword)
    return typeof value === 'string' ? value : undefined
  }
  const [listType, mapType, description] = [text('x-kubernetes-list-type'), text('x-kubernetes-map-type'), text('description')]
  const keys = ownMember(schema, 'x-kubernetes-list-map-keys')
  const fallback = ownMember(schema, 'default') as JsonValue | undefined
  const limits = limitKeywords.filter((keyword) => ownMember(schema, keyword) !== undefined)
  return {
    name,
    value: schemaShape(schema),
    required,
    ...(fallback === undefined || fallback === null ? {} : { default: fallback }),
    ...(listType === 'atomic' || listType === 'set' || listType === 'map' ? { listType } : {}),
    ...(Array.isArray(keys) ? { listMapKeys: keys.filter((key) => typeof key === 'string') } : {}),
    ...(mapType === 'atomic' || mapType === 'granular' ? { mapType } : {}),
    ...(description === undefined ? {} : { description }),
    ...(isImmutable(schema) ? { immutable: true } : {}),
    ...(limits.length === 0 ? {} : { limits: limits.map((keyword) => `${keyword}: ${String(ownMember(schema, keyword))}`) }),
  }
}

/** Whether a rule requires the value to equal the old value. */
function isImmutable(schema: JsonObject): boolean {
  const rules = ownMember(schema, 'x-kubernetes-validations')
  const texts = Array.isArray(rules) ? rules.map((rule) => (isJsonObject(rule) ? String(ownMember(rule, 'rule')) : '')) : []
  return texts.some((text) => /^\s*(?:self\s*==\s*oldSelf|oldSelf\s*==\s*self)\s*$/.test(text))
}

function schemaShape(schema: JsonObject): ValueShape {
  const [type, items, rest, allowed] = ['type', 'items', 'additionalProperties', 'enum'].map((name) => ownMember(schema, name))
  if (ownMember(schema, 'x-kubernetes-int-or-string') === true) return { type: 'IntOrString' }
  if (type === 'array') return listShape(lazy(() => schemaShape(isJsonObject(items) ? items : {})))
  if (isJsonObject(ownMember(schema, 'properties'))) {
    const values = isJsonObject(rest) ? { values: lazy(() => schemaShape(rest)) } : {}
    return { type: 'object', members: lazy(() => new Map(schemaMembers(schema))), ...values }
  }
  if (isJsonObject(rest)) return mapShape(lazy(() => schemaShape(rest)))
  if (type === 'boolean') return { type, allowed: [true, false] }
  return {
    type: typeof type === 'string' && type !== '' ? type : 'any value',
    ...(Array.isArray(allowed) ? { allowed: allowed as readonly JsonValue[] } : {}),
  }
}

function lazy<V>(make: () => V): () => V {
  let made: { readonly value: V } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
