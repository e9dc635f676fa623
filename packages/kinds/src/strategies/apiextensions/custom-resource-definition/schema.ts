import { memberNames, type Work } from '@krmkit/base/work'
import { type DeepReadonly, setMember } from '@krmkit/meta'
import { equalityKey } from '@krmkit/schema/json'
import type { JSONSchemaProps } from '../../../types/apiextensions-v1.generated.ts'
import { semanticEqual } from '../../shared/equality.ts'
import { isEmptyMap, own } from '../../shared/values.ts'

/** `openAPIV3Schema` of a version, or a part of it. */
export type Schema = DeepReadonly<JSONSchemaProps>

/** The names of properties, in the order of their errors. */
export function* sortedNames(properties: object | null | undefined): Work<readonly string[]> {
  const names = [...memberNames(properties ?? {})]
  if (names.length > manyNames) yield true
  names.sort()
  if (names.length > manyNames) yield true
  return names
}

const manyNames = 1000

/** Removes `items` that are null: neither a schema nor a list of schemas was sent. Stored schemas have none. */
export function* dropNullItems(schema: JSONSchemaProps | null | undefined): Work {
  const open: unknown[] = [schema]
  for (let count = 1; open.length > 0; count++) {
    const part = open.pop() as JSONSchemaProps | null | undefined
    if (typeof part !== 'object' || part === null) continue
    if (part.items === null) delete part.items
    yield* openParts(part, open)
    if (count % partsPerStep === 0) yield
  }
}

/** Schemas visited between two yields. */
export const partsPerStep = 64

/** Whether there are `items` that `dropNullItems` removes. They change the schema, although nothing of them is stored. */
export function* hasNullItems(schema: Schema | null | undefined): Work<boolean> {
  const open: unknown[] = [schema]
  for (let count = 1; open.length > 0; count++) {
    const part = open.pop() as Schema | null | undefined
    if (typeof part !== 'object' || part === null) continue
    if (part.items === null) return true
    yield* openParts(part, open)
    if (count % partsPerStep === 0) yield
  }
  return false
}

/** Appends the parts of a schema. */
function* openParts({ items, additionalProperties, not, allOf, anyOf, oneOf, properties }: Schema, open: unknown[]): Work {
  for (const part of [items, additionalProperties, not]) if (typeof part === 'object') open.push(part)
  for (const parts of [allOf, anyOf, oneOf]) for (const part of parts ?? []) open.push(part)
  if (properties === undefined || properties === null) return
  const names = memberNames(properties)
  if (names.length > manyNames) yield true
  for (let i = 0; i < names.length; i++) {
    open.push(properties[names[i] as string])
    if (i % partsPerStep === partsPerStep - 1) yield
  }
}

/** Keywords whose empty value is only for the rules that print or count keywords. */
const lists = ['enum', 'required', 'allOf', 'anyOf', 'oneOf', 'x-kubernetes-list-map-keys', 'x-kubernetes-validations'] as const
const maps = ['properties', 'patternProperties', 'dependencies', 'definitions'] as const

/**
 * The schema without empty lists and maps of keywords; itself where there are none.
 *
 * @param asTexts replaces lists and maps of JSON by their texts: unlike other members, empty ones differ from absent ones
 */
export function* withoutEmpties(schema: Schema, asTexts = false): Work<Schema> {
  yield
  const changed = new Map<string, unknown>()
  const replace = (keyword: keyof Schema & string, next: unknown) => {
    if (next !== schema[keyword]) changed.set(keyword, next)
  }
  for (const keyword of [...lists, ...maps]) {
    const value = schema[keyword]
    if (isEmptyContainer(value)) changed.set(keyword, undefined)
  }
  for (const keyword of ['not', 'additionalProperties', 'items'] as const) {
    const inner = schema[keyword]
    if (isSchema(inner)) replace(keyword, yield* withoutEmpties(inner, asTexts))
  }
  for (const keyword of ['allOf', 'anyOf', 'oneOf'] as const) {
    const branches: Schema[] = []
    for (const branch of schema[keyword] ?? []) branches.push(yield* withoutEmpties(branch, asTexts))
    if (branches.some((branch, index) => branch !== schema[keyword]?.[index])) changed.set(keyword, branches)
  }
  replace('properties', yield* propertiesWithoutEmpties(schema.properties, asTexts))
  if (asTexts) for (const keyword of ['default', 'example'] as const) replace(keyword, comparableJson(schema[keyword]))
  if (changed.size === 0) return schema
  const entries = Object.entries(schema).map(
    ([keyword, value]) => [keyword, changed.has(keyword) ? changed.get(keyword) : value] as const,
  )
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

/** The properties; themselves where none changes. */
function* propertiesWithoutEmpties(properties: Schema['properties'], asTexts: boolean): Work<Schema['properties']> {
  if (properties === undefined || properties === null || isEmptyMap(properties)) return properties
  const names = memberNames(properties)
  if (names.length > manyNames) yield true
  const plain: Record<string, Schema> = {}
  let same = true
  for (let i = 0; i < names.length; i++) {
    const property = own(properties, names[i] as string) as Schema
    const next = yield* withoutEmpties(property, asTexts)
    same &&= next === property
    setMember(plain, names[i] as string, next)
    if (i % partsPerStep === partsPerStep - 1) yield
  }
  return same ? properties : plain
}

function isEmptyContainer(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : typeof value === 'object' && value !== null && isEmptyMap(value)
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function comparableJson(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? equalityKey(value) : value
}

/** Whether all schemas are equal but for empty lists and maps of keywords. */
export function* areSameSchemas([first, ...others]: readonly (Schema | undefined)[]): Work<boolean> {
  let comparable: Schema | undefined
  for (const other of others) {
    if (other === first) continue
    if (first === undefined || other === undefined) return false
    comparable ??= yield* withoutEmpties(first, true)
    if (!(yield* semanticEqual(comparable, yield* withoutEmpties(other, true)))) return false
  }
  return true
}
