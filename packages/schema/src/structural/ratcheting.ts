import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { stringifyJson } from '../json/encode-json.direct.ts'
import { own } from '../json/json-object.ts'

/**
 * Ratcheting: updates may keep already invalid values unchanged. A part is correlated with its old value only where the schema
 * describes it, so an object with an unspecified member counts as changed.
 *
 * @see kube-apiserver, `CorrelatedObject` of `apiserver/pkg/cel/common`
 */

/** Schema of a member: its property, or `additionalProperties`. */
export function memberSchema(schema: JsonObject | undefined, key: string): JsonObject | undefined {
  if (schema === undefined) return undefined
  const properties = own(schema, 'properties')
  const property = isJsonObject(properties) ? own(properties, key) : undefined
  return isJsonObject(property) ? property : additionalSchema(schema)
}

/** Schema of additional properties, if any. */
export function additionalSchema(schema: JsonObject | undefined): JsonObject | undefined {
  const additional = schema === undefined ? undefined : own(schema, 'additionalProperties')
  return isJsonObject(additional) ? additional : undefined
}

/** Schema of the items of a list. */
export function itemSchema(schema: JsonObject | undefined): JsonObject | undefined {
  const items = schema === undefined ? undefined : own(schema, 'items')
  return isJsonObject(items) ? items : undefined
}

/** Key names of a list of type map; empty for other lists. */
export function itemKeys(schema: JsonObject | undefined): readonly string[] {
  if (schema === undefined || own(schema, 'x-kubernetes-list-type') !== 'map') return []
  const keys = own(schema, 'x-kubernetes-list-map-keys')
  return Array.isArray(keys) ? keys.filter((key) => typeof key === 'string') : []
}

/** Returns a function that finds the first item with the same keys. */
export function itemsByKeys(list: JsonValue | undefined, keys: readonly string[]): (item: JsonValue) => JsonValue | undefined {
  if (keys.length === 0 || !Array.isArray(list)) return () => undefined
  const found = new Map<string, JsonValue>()
  for (const item of list) {
    const key = keyText(item, keys)
    if (key !== undefined && !found.has(key)) found.set(key, item)
  }
  return (item) => {
    const key = keyText(item, keys)
    return key === undefined ? undefined : found.get(key)
  }
}

/** Returns the keys as text; `undefined` for items with a missing or non-scalar key. */
function keyText(item: JsonValue, keys: readonly string[]): string | undefined {
  if (!isJsonObject(item)) return undefined
  const values: JsonValue[] = []
  for (const key of keys) {
    const value = own(item, key)
    if (value === undefined || typeof value === 'object') return undefined
    values.push(value)
  }
  return stringifyJson(values)
}

/** Whether a value equals its old value by its schema: the order of items with keys is ignored. */
export function isUnchanged(value: JsonValue, old: JsonValue, schema: JsonObject | undefined): boolean {
  if (value === null || old === null) return value === old
  if (Array.isArray(value)) return Array.isArray(old) && sameItems(value, old, schema)
  if (!isJsonObject(value) || !isJsonObject(old)) return value === old
  const keys = Object.keys(value)
  return keys.length === Object.keys(old).length && keys.every((key) => sameMember(value, old, key, schema))
}

function sameMember(value: JsonObject, old: JsonObject, key: string, schema: JsonObject | undefined): boolean {
  const inner = memberSchema(schema, key)
  return inner !== undefined && Object.hasOwn(old, key) && isUnchanged(value[key] as JsonValue, old[key] as JsonValue, inner)
}

function sameItems(list: readonly JsonValue[], old: JsonValue[], schema: JsonObject | undefined): boolean {
  if (list.length !== old.length) return false
  const keys = itemKeys(schema)
  if (keys.length === 0) return list.every((item, index) => sameValue(item, old[index] as JsonValue))
  const inner = itemSchema(schema)
  const oldOf = itemsByKeys(old, keys)
  return list.every((item) => {
    const before = oldOf(item)
    return before !== undefined && inner !== undefined && isUnchanged(item, before, inner)
  })
}

/** Deep equality, independent of a schema. */
function sameValue(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameValue(item, b[index] as JsonValue))
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key] as JsonValue, b[key] as JsonValue))
  )
}
