import { type FieldError, field, type JsonObject, type JsonValue, type Path } from '@krmkit/meta'
import { pruneObject, pruneValue, type StructType, schemaNode, schemaValidator, validateEmbeddedObject } from '@krmkit/schema'
import { semanticEqual } from '../shared/values.ts'
import { itemsOf } from './list-markers.ts'
import type { Schema } from './schema-form.ts'

/** Defaults must be values that the schema itself accepts. */
export function validateDefaults(schema: Schema, path: Path, objectMeta: () => StructType): FieldError[] {
  const errors: FieldError[] = []
  walk(schema, path, { root: true, objectMeta }, errors)
  return errors
}

interface At {
  readonly root: boolean
  readonly objectMeta: () => StructType
}

function walk(schema: Schema, path: Path, at: At, errors: FieldError[]): void {
  if (schema.default !== undefined && schema.default !== null) errors.push(...validateOne(schema, path.child('default'), at))
  const inner = { ...at, root: false }
  const items = itemsOf(schema)
  if (items !== undefined) walk(items, path.child('items'), inner, errors)
  for (const name of Object.keys(schema.properties ?? {}).sort())
    walk(schema.properties?.[name] as Schema, path.child('properties').key(name), inner, errors)
  const { additionalProperties: additional } = schema
  if (typeof additional === 'object' && additional !== null) walk(additional, path.child('additionalProperties'), inner, errors)
}

function validateOne(schema: Schema, path: Path, { root, objectMeta }: At): FieldError[] {
  const value = schema.default as JsonValue
  const node = schemaNode(schema as JsonObject)
  const whole = root || node.embedded
  const pruned = structuredClone(value)
  if (whole && isObject(pruned)) pruneObject(pruned, node)
  else pruneValue(pruned, node)
  const errors: FieldError[] = []
  if (!semanticEqual(pruned, value)) errors.push(field.invalid(path, value, 'must not have unknown fields'))
  const embedded = whole && isObject(value) ? validateEmbeddedObject(value, path, objectMeta()) : []
  if (embedded.length > 0) return [...errors, ...embedded]
  // The type of an integer or string is not looked at, and neither are keys of lists.
  const { 'x-kubernetes-int-or-string': _, ...rest } = schema
  const found = schemaValidator(rest as JsonObject)(value)
  return [...errors, ...found.map((error) => ({ ...error, field: placed(error.field, path) }))]
}

function placed(inner: string, path: Path): string {
  return inner === '<nil>' ? String(path) : `${path}.${inner}`
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
