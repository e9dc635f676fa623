import { memberNames, type Work } from '@krmkit/base/work'
import { type Features, type FieldError, field, isJsonObject, type JsonObject, type JsonValue, type Path } from '@krmkit/meta'
import * as pacedMeta from '@krmkit/meta/paced'
import { formatFieldErrors, relocatedError } from '@krmkit/meta/validation'
import { cel, DecodeError, type StructType } from '@krmkit/schema'
import { copyJson } from '@krmkit/schema/json'
import * as pacedSchema from '@krmkit/schema/paced'
import {
  coerceEmbedded,
  createSchemaNode,
  createSchemaValidator,
  embeddedTypeError,
  hasValidationRules,
  type SchemaNode,
  validateEmbedded,
} from '@krmkit/schema/structural'
import type { JSONSchemaProps } from '../../../types/apiextensions-v1.generated.ts'
import { itemsOf } from './list-markers.ts'
import { ruleFieldPath } from './rule-field-path.ts'
import { partsPerStep, type Schema, sortedNames } from './schema.ts'

export interface DefaultOptions {
  readonly objectMeta: () => StructType
  /** The release whose formats are checked. */
  readonly release: Features['release']
}

/** Defaults must be values that the schema itself accepts. */
export function* validateDefaults(schema: Schema, path: Path, options: DefaultOptions): Work<FieldError[]> {
  const root: Schema = { ...schema, 'x-kubernetes-embedded-resource': true }
  const at: At = { ...options, resource: root, node: nodeOf(root), steps: [], inMetadata: false, budget: {} }
  return yield* pacedMeta.collectErrors((errors) => walk(root, path, at, errors))
}

interface At extends DefaultOptions {
  /** The innermost resource around the schema: the root, or an embedded one. */
  readonly resource: Schema
  /** The same as a node, built once. */
  readonly node: () => SchemaNode
  /** Path of the schema within the resource: names of members, and index 0 for lists. */
  readonly steps: readonly (string | 0)[]
  /** Within apiVersion, kind or metadata of the resource. */
  readonly inMetadata: boolean
  /** Cost budget of the rules of all defaults together. */
  readonly budget: { cost?: number }
}

const objectMembers = new Set(['metadata', 'apiVersion', 'kind'])

function* walk(schema: Schema, path: Path, outer: At, errors: FieldError[]): Work {
  yield
  // Once the cost budget is exceeded, no further default is validated.
  if ((outer.budget.cost ?? 0) < 0) return
  const embedded = schema['x-kubernetes-embedded-resource'] === true
  const at: At = embedded ? { ...outer, resource: schema, node: nodeOf(schema), steps: [], inMetadata: false } : outer
  if (schema.default !== undefined && schema.default !== null) {
    const place = path.child('default')
    errors.push(...(at.inMetadata ? yield* validateInMetadata(schema, place, at) : yield* validateValue(schema, place, at)))
    yield true
  }
  const items = itemsOf(schema)
  if (items !== undefined) yield* walk(items, path.child('items'), { ...at, steps: [...at.steps, 0] }, errors)
  for (const name of yield* sortedNames(schema.properties)) {
    const inMetadata = at.inMetadata || (embedded && objectMembers.has(name))
    const inner = { ...at, steps: [...at.steps, name], inMetadata }
    yield* walk(schema.properties?.[name] as Schema, path.child('properties').key(name), inner, errors)
  }
  // Defaults of `additionalProperties` are not validated, as on kube-apiserver.
}

function* validateValue(schema: Schema, path: Path, at: At): Work<FieldError[]> {
  const { objectMeta } = at
  const value = schema.default as JsonValue
  const node = createSchemaNode(schema as JsonObject)
  yield true
  const pruned = yield* pacedSchema.copyJson(value)
  yield true
  const unknown: string[] = []
  if (node.embeddedResource && isJsonObject(pruned)) yield* pacedSchema.pruneObject(pruned, node, { unknown })
  else yield* pacedSchema.pruneValue(pruned, node, { unknown })
  yield true
  const errors: FieldError[] = []
  if (unknown.length > 0) errors.push(field.invalid(path, value, 'must not have unknown fields'))
  if (!node.containsEmbedded) return [...errors, ...(yield* validateAlone(schema, path, at))]
  const wrong = embeddedTypeError(value, node, objectMeta(), path)
  if (wrong !== undefined) return [...errors, wrong]
  const coerced = coercedDefault(schema, objectMeta)
  yield true
  const embedded = validateEmbedded(coerced, node, objectMeta(), { path, root: false })
  if (embedded.length > 0) return [...errors, ...embedded]
  yield true
  return [...errors, ...(yield* validateAlone({ ...schema, default: coerced }, path, at))]
}

/**
 * Drops unknown fields of metadata from the defaults of embedded resources, as kube-apiserver does while it validates them.
 * The defaults must be valid.
 */
export function* coerceDefaults(schema: JSONSchemaProps, objectMeta: () => StructType): Work {
  let withEmbedded: ReadonlySet<JSONSchemaProps> | undefined
  const containsEmbedded = (part: JSONSchemaProps): boolean => {
    withEmbedded ??= partsWithEmbedded(schema)
    return withEmbedded.has(part)
  }
  const mayHoldMetadata = ({ part, inMetadata, embedded }: OpenPart): boolean =>
    typeof part.default === 'object' && (embedded || (!inMetadata && containsEmbedded(part)))
  const open: OpenPart[] = [{ part: schema, inMetadata: false, embedded: true }]
  const add = (part: JSONSchemaProps, inMetadata: boolean): void => {
    open.push({ part, inMetadata, embedded: part['x-kubernetes-embedded-resource'] === true })
  }
  for (let count = 1; open.length > 0; count++) {
    const next = open.pop() as OpenPart
    const { part, inMetadata, embedded } = next
    if (mayHoldMetadata(next)) {
      part.default = coercedDefault({ ...part, 'x-kubernetes-embedded-resource': embedded }, objectMeta)
    }
    const items = itemsOf(part) as JSONSchemaProps | undefined
    if (items !== undefined) add(items, !embedded && inMetadata)
    if (part.properties !== undefined) {
      const names = memberNames(part.properties)
      for (let i = 0; i < names.length; i++) {
        const name = names[i] as string
        add(part.properties[name] as JSONSchemaProps, embedded ? objectMembers.has(name) : inMetadata)
        if (i % partsPerStep === partsPerStep - 1) yield true
      }
    }
    if (count % partsPerStep === 0) yield
  }
}

/** A schema still to be visited. */
interface OpenPart {
  readonly part: JSONSchemaProps
  readonly inMetadata: boolean
  readonly embedded: boolean
}

/** The schemas that are, or contain, those of embedded resources. */
function partsWithEmbedded(schema: JSONSchemaProps): ReadonlySet<JSONSchemaProps> {
  const found = new Set<JSONSchemaProps>()
  const visit = (part: JSONSchemaProps): boolean => {
    const { additionalProperties, properties } = part
    let contains = part['x-kubernetes-embedded-resource'] === true
    for (const inner of [itemsOf(part), additionalProperties, ...Object.values(properties ?? {})]) {
      if (typeof inner === 'object' && inner !== null && visit(inner as JSONSchemaProps)) contains = true
    }
    if (contains) found.add(part)
    return contains
  }
  visit(schema)
  return found
}

function hasMetadata(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(hasMetadata)
  if (Object.hasOwn(value, 'metadata')) return true
  // Enumerating is cheaper than a list of the values of a large default.
  for (const name in value) if (hasMetadata((value as Record<string, unknown>)[name])) return true
  return false
}

function coercedDefault(schema: Schema, objectMeta: () => StructType): JsonValue {
  const value = schema.default as JsonValue
  if (!hasMetadata(value)) return value
  const holder = { value: copyJson(value) }
  coerceEmbedded(holder, createSchemaNode({ type: 'object', properties: { value: schema as JsonObject } }), {
    metadata: objectMeta(),
  })
  return holder.value
}

function* validateAlone(schema: Schema, path: Path, { budget, release }: Pick<At, 'budget' | 'release'>): Work<FieldError[]> {
  const errors = validateByKeywords(schema, path, release)
  return errors.length > 0 ? errors : yield* validateByRules(schema, path, budget)
}

/** The default must satisfy the rules as an unchanged value and as a new one. */
function* validateByRules(schema: Schema, path: Path, budget: At['budget']): Work<FieldError[]> {
  if (!hasValidationRules(schema as JsonObject)) return []
  const { engine, storedExpressions: stored } = cel()
  const tree = engine.createRuleTree(schema as JsonObject, {
    environment: () => stored,
    root: schema['x-kubernetes-embedded-resource'] === true,
  })
  if (tree === undefined) return []
  budget.cost ??= engine.requestCostBudget
  const value = schema.default as JsonValue
  const before = budget.cost
  const validate = function* (old?: JsonValue): Work<FieldError[]> {
    const spent = { cost: before }
    const options = { path, budget: spent, fieldAt: ruleFieldPath, old, ratcheting: false }
    const errors = yield* engine.paced.validateRules(tree, value, options)
    // The more expensive of the two runs counts.
    budget.cost = Math.min(budget.cost ?? before, spent.cost)
    return errors
  }
  const unchanged = yield* validate(value)
  return unchanged.length > 0 ? unchanged : yield* validate()
}

/**
 * Validates against the keywords of the schema. As on kube-apiserver, the type of an integer or string and keys of lists are
 * not checked.
 */
function validateByKeywords(schema: Schema, path: Path, release: Features['release']): FieldError[] {
  const validate = createSchemaValidator(withoutMarkers(schema as JsonObject), { everyFormat: true, release })
  const found = validate(schema.default as JsonValue)
  return found.map((error) => relocatedError(error, error.field === '<nil>' ? String(path) : `${path}.${error.field}`))
}

function withoutMarkers(schema: JsonObject): JsonObject {
  const { 'x-kubernetes-int-or-string': _, ...rest } = schema
  for (const keyword of ['not', 'items', 'additionalProperties']) {
    const inner = rest[keyword]
    if (inner !== undefined && isJsonObject(inner)) rest[keyword] = withoutMarkers(inner)
  }
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const inner = rest[keyword]
    if (Array.isArray(inner)) rest[keyword] = inner.map((branch) => (isJsonObject(branch) ? withoutMarkers(branch) : branch))
  }
  const { properties } = rest
  if (properties !== undefined && isJsonObject(properties)) {
    const inner = Object.entries(properties).map(([name, property]): [string, JsonValue] => [
      name,
      isJsonObject(property) ? withoutMarkers(property) : property,
    ])
    rest.properties = Object.fromEntries(inner)
  }
  return rest
}

/** Validates metadata with the default in an otherwise complete object. */
function* validateInMetadata(schema: Schema, path: Path, at: At): Work<FieldError[]> {
  const { node, steps, objectMeta } = at
  const value = schema.default as JsonValue
  const object: JsonObject = { apiVersion: 'validation/v1', kind: 'Validation', ...embedAt(value, steps) }
  const problem = metadataError(object, node(), objectMeta())
  if (problem !== undefined) return [field.invalid(path, value, `must result in valid metadata: ${problem}`)]
  return yield* validateAlone(schema, path, at)
}

function nodeOf(schema: Schema): () => SchemaNode {
  let node: SchemaNode | undefined
  return () => {
    node ??= createSchemaNode(schema as JsonObject)
    return node
  }
}

function embedAt(value: JsonValue, steps: readonly (string | 0)[]): JsonObject {
  return steps.reduceRight<JsonValue>((inner, step) => (step === 0 ? [inner] : { [step]: inner }), value) as JsonObject
}

function metadataError(object: JsonObject, resource: SchemaNode, objectMeta: StructType): string | undefined {
  try {
    coerceEmbedded(object, resource, { metadata: objectMeta, includeRoot: true })
  } catch (error) {
    if (error instanceof DecodeError) return error.message
    throw error
  }
  const errors = validateEmbedded(object, resource, objectMeta, { root: false })
  return errors.length === 0 ? undefined : formatFieldErrors(errors)
}
