import { compilePattern } from '@krmkit/cel/pattern'
import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { z } from './zod.ts'

/**
 * Derives a structural OpenAPI schema from a zod schema. What such a schema cannot express (refinements, alternatives of
 * different types, cycles) is left open in it and validated by the zod schema alone.
 */

const openKey = 'x-kubernetes-preserve-unknown-fields'

/** @throws Error for types that JSON cannot hold: dates, big integers, maps, functions. */
export function structuralSchema(schema: z.ZodType): JsonObject {
  const written = z.toJSONSchema(schema, { io: 'input', target: 'openapi-3.0', cycles: 'ref' }) as JsonObject
  return node(written)
}

/** Keywords with the same meaning in JSON Schema and OpenAPI. */
const kept = [
  'type',
  'description',
  'default',
  'nullable',
  'enum',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'required',
]

function node(given: JsonObject): JsonObject {
  const alternatives = listOf(given.anyOf) ?? listOf(given.oneOf)
  if (alternatives !== undefined) return { ...ownKeys(given), ...unionSchema(alternatives, given.oneOf !== undefined) }
  const all = listOf(given.allOf)
  if (all !== undefined) return { ...ownKeys(given), ...intersected(all) }
  if (given.$ref !== undefined || given.type === undefined) return { ...ownKeys(given), [openKey]: true }
  return { ...ownKeys(given), ...contents(given) }
}

function ownKeys(given: JsonObject): JsonObject {
  const out: JsonObject = {}
  for (const key of kept) {
    const value = given[key]
    if (value !== undefined && !isUnbounded(key, value)) out[key] = value
  }
  if (typeof given.format === 'string' && knownFormats.has(given.format)) out.format = given.format
  if (typeof given.pattern === 'string' && given.format === undefined && isPattern(given.pattern)) out.pattern = given.pattern
  for (const key of Object.keys(given)) if (key.startsWith('x-kubernetes-')) out[key] = given[key] as JsonValue
  return out
}

/** Formats that servers validate; zod validates the others. */
const knownFormats: ReadonlySet<string> = new Set(['date', 'date-time', 'email', 'ipv4', 'ipv6', 'uri', 'uuid', 'int32', 'int64'])

/** zod marks integers by the safe range. */
function isUnbounded(key: string, value: JsonValue): boolean {
  if (key !== 'minimum' && key !== 'maximum') return false
  return value === Number.MAX_SAFE_INTEGER || value === Number.MIN_SAFE_INTEGER
}

/** Lookaround cannot be matched in linear time; such patterns are left to zod. */
function isPattern(pattern: string): boolean {
  return !('problem' in compilePattern(pattern))
}

function contents(given: JsonObject): JsonObject {
  const out: JsonObject = {}
  if (isJsonObject(given.properties)) out.properties = mapped(given.properties)
  const { additionalProperties: more, items } = given
  if (isJsonObject(more)) {
    const open = Object.keys(more).length === 0
    if (given.properties === undefined) out.additionalProperties = open ? { [openKey]: true } : node(more)
    else out[openKey] = true
  } else if (more === true) out[openKey] = true
  if (isJsonObject(items)) out.items = node(items)
  else if (given.type === 'array') out.items = { [openKey]: true }
  if (given.type === 'object' && given.properties === undefined && more === undefined) out[openKey] = true
  return out
}

function mapped(properties: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, node(each as JsonObject)]))
}

/** A union: distinguished if all alternatives are objects, or string and integer; otherwise left open. */
function unionSchema(alternatives: readonly JsonObject[], exclusive: boolean): JsonObject {
  const types = new Set(alternatives.map(({ type }) => type))
  if (alternatives.length === 1) return node(alternatives[0] as JsonObject)
  if (types.size === 2 && types.has('string') && types.has('integer')) return { 'x-kubernetes-int-or-string': true }
  const [type] = types
  if (types.size > 1 || type === undefined) return { [openKey]: true }
  const nodes = alternatives.map(node)
  if (type !== 'object') return { type, ...(type === 'array' ? { items: { [openKey]: true } } : {}), anyOf: nodes.map(bare) }
  return { ...intersectionSchema(nodes), [exclusive ? 'oneOf' : 'anyOf']: nodes.map(bare) }
}

function intersected(all: readonly JsonObject[]): JsonObject {
  const nodes = all.map(node)
  if (nodes.some(({ type }) => type !== 'object')) return { [openKey]: true }
  const required = [...new Set(nodes.flatMap((each) => (each.required as string[] | undefined) ?? []))]
  return { ...intersectionSchema(nodes), ...(required.length === 0 ? {} : { required }) }
}

/** An object with the members of all; members with conflicting schemas are left open. */
function intersectionSchema(nodes: readonly JsonObject[]): JsonObject {
  const properties: JsonObject = {}
  for (const { properties: own } of nodes) {
    for (const [name, each] of Object.entries((own as JsonObject | undefined) ?? {})) {
      const known = properties[name]
      properties[name] =
        known === undefined || sameShape(known, each) ? (known ?? withoutValues(each as JsonObject)) : { [openKey]: true }
    }
  }
  return { type: 'object', properties, ...(nodes.some((each) => each[openKey] === true) ? { [openKey]: true } : {}) }
}

function sameShape(a: JsonValue, b: JsonValue): boolean {
  return JSON.stringify(a) === JSON.stringify(withoutValues(b as JsonObject))
}

/** Drops what only one alternative allows; the alternative itself states it. */
function withoutValues({ enum: _values, ...rest }: JsonObject): JsonObject {
  return rest
}

/** Keywords that a structural schema forbids in alternatives. */
const structural = new Set(['type', 'description', 'default', 'nullable', 'additionalProperties', 'format'])

function bare(given: JsonObject): JsonObject {
  const out: JsonObject = {}
  for (const [key, value] of Object.entries(given)) {
    if (structural.has(key) || key.startsWith('x-kubernetes-')) continue
    if (key === 'properties') {
      const inner = Object.entries(value as JsonObject).map(([name, each]): [string, JsonObject] => [
        name,
        bare(each as JsonObject),
      ])
      const said = inner.filter(([, each]) => Object.keys(each).length > 0)
      if (said.length > 0) out.properties = Object.fromEntries(said)
    } else if (key === 'items') {
      const items = bare(value as JsonObject)
      if (Object.keys(items).length > 0) out.items = items
    } else out[key] = value
  }
  return out
}

function listOf(value: JsonValue | undefined): readonly JsonObject[] | undefined {
  return Array.isArray(value) ? (value as JsonObject[]) : undefined
}
