import { isJsonObject, type JsonValue } from '@krmkit/meta'
import { fieldElement, indexElement, type KeyField, keyElement, type PathElement } from './element.ts'
import { type FieldSet, FieldSetBuilder } from './field-set.ts'

/**
 * The leaves of a value of unknown type. List items are identified by their members `key`, `id` and `name` when present, by index
 * otherwise.
 *
 * @example
 * ```ts
 * import { fieldSetFromValue } from '@krmkit/fieldmanager/fieldpath'
 *
 * fieldSetFromValue({ ports: [{ name: 'http', port: 80 }] }).toString() // '.ports[name="http"].name\n.ports[name="http"].port'
 * ```
 */
export function fieldSetFromValue(value: JsonValue): FieldSet {
  const builder = new FieldSetBuilder()
  walk(value, [], builder)
  return builder.build()
}

const keyNames = ['id', 'key', 'name']

function walk(value: JsonValue, path: PathElement[], builder: FieldSetBuilder): void {
  if (Array.isArray(value)) {
    value.forEach((item, index) => {
      path.push(guessElement(item, index))
      walk(item, path, builder)
      path.pop()
    })
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) {
      path.push(fieldElement(key))
      walk(value[key] as JsonValue, path, builder)
      path.pop()
    }
  } else if (path.length > 0) builder.insert(path, path.length)
}

function guessElement(item: JsonValue, index: number): PathElement {
  if (!isJsonObject(item)) return indexElement(index)
  const fields: KeyField[] = []
  for (const name of keyNames) {
    if (!Object.hasOwn(item, name)) continue
    const value = item[name] as JsonValue
    if (typeof value !== 'object') fields.push({ name, value })
  }
  return fields.length === 0 ? indexElement(index) : keyElement(fields)
}
