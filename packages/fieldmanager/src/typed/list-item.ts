import { isJsonObject, type JsonValue } from '@krmkit/meta'
import { type KeyField, keyElement, type PathElement, valueElement } from '../fieldpath/element.ts'
import { canonicalJson, quoteHtmlSafeJson, quoteJson } from '../value/json.ts'
import { type ListAtom, ownMember } from './types.ts'

/** The error for an item of an associative list that has no path element. */
export class ListItemError {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

/**
 * The path element of an item in an associative list: by its key fields, or by its value in a set.
 *
 * @example
 * ```ts
 * import { typedSchemaFromOpenApi } from '@krmkit/fieldmanager'
 * import { itemElement } from '@krmkit/fieldmanager/typed'
 *
 * const { atom } = typedSchemaFromOpenApi({ type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' })
 * if (atom.list) itemElement(atom.list, 'blue') // 'v:"blue"'
 * ```
 */
export function itemElement(list: ListAtom, item: JsonValue): PathElement | ListItemError {
  if (list.atomic) return new ListItemError('invalid indexing of non-associative list')
  return list.keys.length === 0 ? setItem(item) : keyedItem(list, item)
}

/** Like `itemElement`, but reports an item without an element to the walk and returns `undefined`. */
export function reportedElement(
  walk: { fail(message: string): void },
  list: ListAtom,
  items: readonly JsonValue[],
  index: number,
): PathElement | undefined {
  const element = itemElement(list, items[index] as JsonValue)
  if (!(element instanceof ListItemError)) return element
  walk.fail(`element ${index}: ${element.message}`)
  return undefined
}

/** The value of a key field or its default; `undefined` when both are absent. */
export function keyValue(list: ListAtom, item: { [key: string]: JsonValue }, name: string): JsonValue | undefined {
  return ownMember(item, name) ?? missingKey(list, item, name)
}

/** Whether both lists hold the same unique keys in the same order. */
export function haveSameKeys(list: ListAtom, left: readonly JsonValue[], right: readonly JsonValue[]): boolean {
  if (left.length !== right.length || list.keys.length === 0) return false
  const only = list.keys.length === 1 ? (list.keys[0] as string) : undefined
  const seen = left.length > 1 ? new Set<JsonValue>() : undefined
  for (let i = 0; i < left.length; i++) {
    const a = left[i]
    const b = right[i]
    if (!isJsonObject(a) || !isJsonObject(b)) return false
    const key = only === undefined ? sharedKeys(list, a, b) : sharedKey(list, only, a, b)
    if (key === undefined || seen?.has(key)) return false
    seen?.add(key)
  }
  return true
}

/** The value of a key field when both items have the same scalar value. */
function sharedKey(
  list: ListAtom,
  name: string,
  a: { [key: string]: JsonValue },
  b: { [key: string]: JsonValue },
): JsonValue | undefined {
  const value = keyValue(list, a, name)
  return value === undefined || typeof value === 'object' || value !== keyValue(list, b, name) ? undefined : value
}

function sharedKeys(list: ListAtom, a: { [key: string]: JsonValue }, b: { [key: string]: JsonValue }): string | undefined {
  let joined = ''
  for (const name of list.keys) {
    const value = sharedKey(list, name, a, b)
    if (value === undefined) return undefined
    joined += `\0${typeof value}${value}`
  }
  return joined
}

function missingKey(list: ListAtom, item: { [key: string]: JsonValue }, name: string): JsonValue | undefined {
  if (ownMember(item, name) === null) return null
  return list.items.atom.map?.fields.get(name)?.default
}

function keyedItem(list: ListAtom, item: JsonValue): PathElement | ListItemError {
  if (item === null) return new ListItemError('associative list with keys may not have a null element')
  if (!isJsonObject(item)) return new ListItemError('associative list with keys may not have non-map elements')
  const only = list.keys.length === 1 ? (list.keys[0] as string) : undefined
  if (only !== undefined) {
    const value = keyValue(list, item, only)
    return value === undefined
      ? omitted(list)
      : `${list.prefix ?? `k:{${quoteJson(only)}:`}${typeof value === 'string' ? quoteHtmlSafeJson(value) : canonicalJson(value)}}`
  }
  const fields: KeyField[] = []
  for (const name of list.keys) {
    const value = keyValue(list, item, name)
    if (value !== undefined) fields.push({ name, value })
  }
  return fields.length === 0 ? omitted(list) : keyElement(fields)
}

function omitted(list: ListAtom): ListItemError {
  const keys = list.keys.map((key) => JSON.stringify(key)).join(' ')
  return new ListItemError(
    `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`,
  )
}

function setItem(item: JsonValue): PathElement | ListItemError {
  if (item === null) return new ListItemError("associative list without keys has an element that's an explicit null")
  if (Array.isArray(item)) return new ListItemError('not supported: associative list with lists as elements')
  if (typeof item === 'object') return new ListItemError("associative list without keys has an element that's a map type")
  return valueElement(item)
}
