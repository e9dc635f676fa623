import type { JsonValue } from '@krmkit/meta'
import type { PathElement } from '../fieldpath/element.ts'
import { type FieldSet, FieldSetBuilder } from '../fieldpath/field-set.ts'
import { isMap } from '../value/order.ts'
import { ItemProblem, itemElement } from './list-item.ts'
import type { ListAtom, MapAtom, TypeRef } from './types.ts'
import { defaultForm, formOf } from './types.ts'
import { Walk } from './walk.ts'

/**
 * The paths that a value sets, which is what its applier owns: leaves, atomic parts, items of associative lists, members
 * of maps that are no structs, and empty or null members.
 */
export function fieldSetOf(value: JsonValue, type: TypeRef): FieldSet {
  const walk = new Walk()
  const builder = new FieldSetBuilder()
  collect(value, type, walk, builder)
  return builder.build()
}

function collect(value: JsonValue, type: TypeRef, walk: Walk, out: FieldSetBuilder): void {
  const { atom } = type
  const form = formOf(atom, value) ?? defaultForm(atom)
  if (form === 'map' && atom.map !== undefined) collectMap(value, atom.map, walk, out)
  else if (form === 'list' && atom.list !== undefined) collectList(value, atom.list, walk, out)
  else insert(walk, out)
}

function collectMap(value: JsonValue, map: MapAtom, walk: Walk, out: FieldSetBuilder): void {
  if (map.atomic) insert(walk, out)
  if (map.atomic || !isMap(value)) return
  for (const key in value) {
    const member = value[key]
    if (member === undefined) continue
    const field = map.fields.get(key)
    const type = field?.type ?? map.items
    if (type === undefined) continue
    walk.enter(field === undefined ? `f:${key}` : field.element)
    collect(member, type, walk, out)
    if (field === undefined || member === null || (isMap(member) && isEmpty(member))) insert(walk, out)
    walk.leave()
  }
}

function collectList(value: JsonValue, list: ListAtom, walk: Walk, out: FieldSetBuilder): void {
  if (list.atomic) insert(walk, out)
  if (list.atomic || !Array.isArray(value)) return
  const counts = new Map<PathElement, number>()
  const elements: (PathElement | undefined)[] = []
  for (const item of value) {
    const element = itemElement(list, item)
    elements.push(element instanceof ItemProblem ? undefined : element)
    if (!(element instanceof ItemProblem)) counts.set(element, (counts.get(element) ?? 0) + 1)
  }
  for (let i = 0; i < value.length; i++) {
    const element = elements[i]
    if (element === undefined) continue
    walk.enter(element)
    // Duplicates are owned together, as a whole.
    if (counts.get(element) === 1) collect(value[i] as JsonValue, list.items, walk, out)
    insert(walk, out)
    walk.leave()
  }
}

function insert(walk: Walk, out: FieldSetBuilder): void {
  out.insert(walk.path, walk.path.length)
}

function isEmpty(map: object): boolean {
  for (const _ in map) return false
  return true
}
