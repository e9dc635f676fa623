// Derived from list-types.ts by `npm run direct`: do not edit.
import { type FieldError, field, isJsonObject, type JsonObject, type JsonValue, Path } from '@krmkit/meta'
import { collectErrors } from '@krmkit/meta/validation'
import { equalityKey } from '../json/sorted-copy.ts'
import { additionalNode, type SchemaNode } from '../schema-node.ts'
import { plainNumber } from './whole-float.ts'

/**
 * Validates list types: sets must not repeat a value, maps must not repeat a key.
 *
 * @example
 * import { createSchemaNode, validateListTypes } from '@krmkit/schema/structural'
 * const node = createSchemaNode({ type: 'array', 'x-kubernetes-list-type': 'set' })
 * validateListTypes(['a', 'a'], node).map(({ message }) => message) // [ 'Duplicate value: "a"' ]
 */
export function validateListTypes(value: JsonValue, node: SchemaNode | undefined, path?: Path): FieldError[] {
  if (node === undefined || !node.containsKeyedLists) return []
  return collectErrors((errors) => walk(value, node, path, errors))
}

function walk(value: JsonValue, node: SchemaNode | undefined, path: Path | undefined, errors: FieldError[]): void {
  if (node === undefined || !node.containsKeyedLists) return
  if (Array.isArray(value)) {
    if (node.listType === 'set') checkSet(value, path, errors)
    if (node.listType === 'map') checkMap(value, node, path, errors)
    if (node.items?.containsKeyedLists !== true) return
    for (let i = 0; i < value.length; i++) walk(value[i] as JsonValue, node.items, path?.index(i), errors)
    return
  }
  if (!isJsonObject(value)) return
  const rest = additionalNode(node)
  for (const key of Object.keys(value)) {
    const property = node.properties.get(key)
    const next =
      path === undefined ? Path.of(key) : property === undefined && rest !== undefined ? path.key(key) : path.child(key)
    walk(value[key] as JsonValue, property ?? rest, next, errors)
  }
}

/** Reports a repeated value once, at its second occurrence. */
function checkSet(items: readonly JsonValue[], path: Path | undefined, errors: FieldError[]): void {
  const seen = new Map<string, number>()
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as JsonValue
    const key = equalityKey(item)
    const count = (seen.get(key) ?? 0) + 1
    seen.set(key, count)
    if (count === 2) errors.push(field.duplicate(path?.index(i), plainNumber(item)))
  }
}

function checkMap(items: readonly JsonValue[], node: SchemaNode, path: Path | undefined, errors: FieldError[]): void {
  const other = items.findIndex((item) => item !== null && !isJsonObject(item))
  if (other >= 0) {
    errors.push(field.invalid(path?.index(other), items[other], 'must be an object for an array of list-type map'))
    return
  }
  const seen = new Map<string, number>()
  for (let i = 0; i < items.length; i++) {
    // Null has no keys.
    const item = (items[i] ?? {}) as JsonObject
    const keys: JsonObject = {}
    for (const name of node.listMapKeys) if (Object.hasOwn(item, name)) keys[name] = item[name] as JsonValue
    const key = equalityKey(keys)
    const count = (seen.get(key) ?? 0) + 1
    seen.set(key, count)
    if (count === 2) errors.push(field.duplicate(path?.index(i), keys))
  }
}
