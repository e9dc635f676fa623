import { type JsonValue, setMember } from '@krmkit/meta'
import { elementParts, fieldElement, type PathElement } from '../fieldpath/element.ts'
import { type FieldSet, FieldSetBuilder } from '../fieldpath/field-set.ts'
import { fieldSetOf } from './field-set-of.ts'
import { itemElement, ListItemError } from './list-item.ts'
import { asList, asMap, defaultForm, formOf, type ListAtom, type MapAtom, type TypeRef } from './types.ts'

export interface ExtractItemsOptions {
  /** Whether to include the key fields of partially extracted items. */
  readonly appendKeyFields?: boolean
}

/**
 * The value without the members and items of `set`; emptied parts become null. Unchanged parts are shared with `value`.
 *
 * @example
 * ```ts
 * import { FieldSet } from '@krmkit/fieldmanager'
 * import { deducedType, removeItems } from '@krmkit/fieldmanager/typed'
 *
 * removeItems({ color: 'blue', size: 'L' }, FieldSet.of(['f:color']), deducedType) // { size: 'L' }
 * ```
 */
export function removeItems(value: JsonValue, set: FieldSet, type: TypeRef): JsonValue {
  return take(value, set, type, false)
}

/**
 * The value with only the members and items of `set`; null when nothing remains.
 *
 * @example
 * ```ts
 * import { FieldSet } from '@krmkit/fieldmanager'
 * import { deducedType, extractItems } from '@krmkit/fieldmanager/typed'
 *
 * extractItems({ color: 'blue', size: 'L' }, FieldSet.of(['f:color']), deducedType) // { color: 'blue' }
 * ```
 */
export function extractItems(value: JsonValue, set: FieldSet, type: TypeRef, options: ExtractItemsOptions = {}): JsonValue {
  const wanted = options.appendKeyFields ? set.union(keyFieldsOf(set, fieldSetOf(value, type))) : set
  return take(value, wanted, type, true)
}

function take(value: JsonValue, set: FieldSet, type: TypeRef, extract: boolean): JsonValue {
  const { atom } = type
  const form = formOf(atom, value) ?? defaultForm(atom)
  if (form === 'map' && atom.map !== undefined) return takeMembers(value, set, atom.map, extract)
  if (form === 'list' && atom.list !== undefined) return takeItems(value, set, atom.list, extract)
  return value
}

function takeMembers(value: JsonValue, set: FieldSet, map: MapAtom, extract: boolean): JsonValue {
  const members = asMap(value)
  if (members === undefined) return null
  if (map.atomic) return extract && Object.keys(members).length > 0 ? value : null
  const out: { [key: string]: JsonValue } = {}
  let size = 0
  let same = true
  for (const key in members) {
    const member = members[key] as JsonValue
    const field = map.fields.get(key)
    const node = set.nodes.get(field?.element ?? fieldElement(key))
    const type = field?.type ?? map.items
    let kept: JsonValue | undefined
    if (node === undefined || type === undefined) kept = extract ? undefined : member
    else if (node.member) kept = extract ? take(member, set, type, true) : undefined
    else kept = take(member, node.children ?? set, type, extract)
    if (kept !== member) same = false
    if (kept === undefined) continue
    setMember(out, key, kept)
    size++
  }
  if (size === 0) return null
  return same ? value : out
}

function takeItems(value: JsonValue, set: FieldSet, list: ListAtom, extract: boolean): JsonValue {
  const items = asList(value)
  if (items === undefined || items.length === 0) return null
  if (list.atomic) return extract ? value : null
  const out: JsonValue[] = []
  let same = true
  for (const item of items) {
    const element = itemElement(list, item)
    const node = element instanceof ListItemError ? undefined : set.nodes.get(element)
    if (extract ? node === undefined : node?.member) {
      same = false
      continue
    }
    const kept = node?.children === undefined ? item : take(item, node.children, list.items, extract)
    if (kept !== item) same = false
    out.push(kept)
  }
  if (out.length === 0) return null
  return same ? value : out
}

/** The key fields of every item along the paths of `set` that the value has. */
function keyFieldsOf(set: FieldSet, present: FieldSet): FieldSet {
  const builder = new FieldSetBuilder()
  set.iterate((path) => {
    if (!present.has(path)) return
    path.forEach((element, index) => {
      const parts = elementParts(element)
      if (parts.kind !== 'key') return
      const prefix: PathElement[] = path.slice(0, index + 1)
      for (const field of parts.fields) builder.insert([...prefix, fieldElement(field.name)], index + 2)
    })
  })
  return builder.build()
}
