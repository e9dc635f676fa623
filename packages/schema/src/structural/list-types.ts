import { type FieldError, field, isJsonObject, type JsonObject, type JsonValue, Path } from '@krmkit/meta'
import { collectErrors } from '@krmkit/meta/validation'
import { equalityKey } from '../json/encode-json.ts'
import { additionalNode, type SchemaNode } from './schema-node.ts'

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
    value.forEach((item, index) => {
      walk(item, node.items, path?.index(index), errors)
    })
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
  items.forEach((item, index) => {
    const key = equalityKey(item)
    const count = (seen.get(key) ?? 0) + 1
    seen.set(key, count)
    if (count === 2) errors.push(field.duplicate(path?.index(index), item))
  })
}

function checkMap(items: readonly JsonValue[], node: SchemaNode, path: Path | undefined, errors: FieldError[]): void {
  const seen = new Map<string, number>()
  items.forEach((item, index) => {
    const itemPath = path?.index(index)
    if (!isJsonObject(item)) {
      errors.push(field.invalid(itemPath, item, 'must be an object for an array of list-type map'))
      return
    }
    const keys: JsonObject = {}
    for (const name of node.listMapKeys) if (Object.hasOwn(item, name)) keys[name] = item[name] as JsonValue
    const key = equalityKey(keys)
    const count = (seen.get(key) ?? 0) + 1
    seen.set(key, count)
    if (count === 2) errors.push(field.duplicate(itemPath, keys))
  })
}
