import { escapeName } from '@krmkit/cel'
import {
  boolType,
  bytesType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  stringType,
  structOf,
  type Type,
  timestampType,
} from '@krmkit/cel/types'
import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { own } from '../json/json-object.ts'

/** Declared type of a schema: the expression type and the size limits of its values. */
export interface DeclType {
  readonly type: Type
  /** Maximum number of characters, bytes, items or entries; 0 for values without a size. */
  readonly maxElements: number
  /** Size of the smallest value as JSON, in bytes. */
  readonly minSize: number
  /** Fields by escaped name. */
  readonly fields?: ReadonlyMap<string, DeclType>
  /** Items of lists, values of maps. */
  readonly elem?: DeclType
  readonly key?: DeclType
}

/** Maximum request size in bytes. */
export const maxRequestSize = 3 * 1024 * 1024

const maxText = maxRequestSize - 2
const maxDurationText = 32
const minDurationText = 3
const dateText = 12
const minMomentText = 21
const maxMomentText = 32

/**
 * Converts a schema to its declared type.
 *
 * @param name type name for objects.
 * @returns `undefined` for values without a type, and for lists and maps of untyped values: expressions cannot access these.
 * @example
 * import { schemaDeclType } from '@krmkit/schema/rules'
 * schemaDeclType({ type: 'array', maxItems: 3, items: { type: 'string' } }, 'T')?.maxElements // 3
 */
export function schemaDeclType(schema: JsonObject, name: string, root = false): DeclType | undefined {
  // Length limits of its strings are ignored.
  if (own(schema, 'x-kubernetes-int-or-string') === true) return { type: dynType, maxElements: maxText, minSize: 1 }
  switch (own(schema, 'type')) {
    case 'array':
      return declaredList(schema, name)
    case 'object':
      return declaredObject(schema, name, root)
    case 'string':
      return declaredFormat(schema) ?? declaredText(schema)
    case 'boolean':
      return { type: boolType, maxElements: 0, minSize: 4 }
    case 'number':
      return { type: doubleType, maxElements: 0, minSize: 1 }
    case 'integer':
      return { type: intType, maxElements: 0, minSize: 1 }
    default:
      return undefined
  }
}

function isEmbedded(schema: JsonObject): boolean {
  return own(schema, 'x-kubernetes-embedded-resource') === true
}

/** Value of a limit; negative limits become 0. */
export function limitOf(schema: JsonObject, keyword: string): number | undefined {
  const value = own(schema, keyword)
  return typeof value === 'number' || typeof value === 'bigint' ? Math.max(0, Number(value)) : undefined
}

/** A character takes up to four bytes. */
function declaredText(schema: JsonObject): DeclType {
  const limit = limitOf(schema, 'maxLength')
  const allowed = own(schema, 'enum')
  if (limit !== undefined) return { type: stringType, maxElements: limit * 4, minSize: 2 }
  if (Array.isArray(allowed) && allowed.length > 0) {
    return { type: stringType, maxElements: longest(allowed), minSize: 2 }
  }
  return { type: stringType, maxElements: maxText, minSize: 2 }
}

function longest(values: readonly JsonValue[]): number {
  const encoder = new TextEncoder()
  return Math.max(0, ...values.map((value) => (typeof value === 'string' ? encoder.encode(value).length : 0)))
}

function declaredFormat(schema: JsonObject): DeclType | undefined {
  switch (own(schema, 'format')) {
    case 'byte':
      return { type: bytesType, maxElements: limitOf(schema, 'maxLength') ?? maxText, minSize: 2 }
    case 'duration':
      return { type: durationType, maxElements: maxDurationText, minSize: minDurationText }
    case 'date':
      return { type: timestampType, maxElements: dateText, minSize: dateText }
    case 'date-time':
      return { type: timestampType, maxElements: maxMomentText, minSize: minMomentText }
    default:
      return undefined
  }
}

function declaredList(schema: JsonObject, name: string): DeclType | undefined {
  const items = own(schema, 'items')
  if (!isJsonObject(items)) return undefined
  const elem = schemaDeclType(items, `${name}.@idx`, isEmbedded(items))
  if (elem === undefined) return undefined
  const maxElements = limitOf(schema, 'maxItems') ?? Math.floor(maxText / (elem.minSize + 1))
  return { type: listOf(elem.type), maxElements, minSize: 2, elem }
}

function declaredObject(schema: JsonObject, name: string, root: boolean): DeclType | undefined {
  const rest = own(schema, 'additionalProperties')
  if (isJsonObject(rest) && !root) return declaredMap(schema, rest, name)
  const properties = own(schema, 'properties')
  const members = new Map<string, JsonObject>()
  if (isJsonObject(properties))
    for (const [key, property] of Object.entries(properties)) if (isJsonObject(property)) members.set(key, property)
  if (root) for (const [key, property] of Object.entries(objectMembers)) members.set(key, property)
  const required = own(schema, 'required')
  const fields = new Map<string, DeclType>()
  let minSize = 2
  for (const [key, property] of members) {
    const declared = schemaDeclType(property, `${name}.${escapeName(key) ?? key}`, isEmbedded(property))
    if (declared === undefined) continue
    const escaped = escapeName(key)
    if (escaped !== undefined) fields.set(escaped, declared)
    const filled = own(property, 'default') !== undefined && own(property, 'default') !== null
    if (Array.isArray(required) && required.includes(key) && !filled) minSize += key.length + declared.minSize + 4
  }
  const types = new Map([...fields].map(([key, declared]) => [key, declared.type]))
  return { type: structOf(name, types), maxElements: 0, minSize, fields }
}

/** Fields of every object, independent of its schema. */
const objectMembers: Readonly<Record<string, JsonObject>> = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: { type: 'object', properties: { name: { type: 'string' }, generateName: { type: 'string' } } },
}

/** Keys have no separate maximum size, because the maximum number of entries already includes them. */
const keyText: DeclType = { type: stringType, maxElements: 0, minSize: 2 }

function declaredMap(schema: JsonObject, rest: JsonObject, name: string): DeclType | undefined {
  const elem = schemaDeclType(rest, `${name}.@elem`, isEmbedded(rest))
  if (elem === undefined) return undefined
  const maxElements = limitOf(schema, 'maxProperties') ?? Math.floor(maxText / (elem.minSize + 6))
  return { type: mapOf(stringType, elem.type), maxElements, minSize: 2, key: keyText, elem }
}
