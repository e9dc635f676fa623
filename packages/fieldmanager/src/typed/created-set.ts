import { isJsonObject, type JsonValue } from '@krmkit/meta'
import type { PathElement } from '../fieldpath/element.ts'
import { emptySet, type FieldNode, FieldSet, leaf } from '../fieldpath/field-set.ts'
import { equalValues } from '../value/order.ts'
import { itemElement, ListItemError } from './list-item.ts'
import type { ListAtom, MapAtom, TypeRef } from './types.ts'
import { asList, asMap, defaultForm, formOf, ownMember } from './types.ts'
import { validateScalar } from './validate.ts'
import { maxObjectDepth } from './walk.ts'

/** Marks a value that this fast path cannot handle. */
const unsupported = false

type Result = FieldNode | undefined | typeof unsupported
type Nodes = Map<PathElement, FieldNode>

/**
 * Fast path of `compareTyped` for created objects: the added and modified paths between the zero object and the value.
 *
 * @returns `undefined` when the result is uncertain; use `compareTyped` instead.
 */
export function createdSet(value: JsonValue, zero: JsonValue, type: TypeRef): FieldSet | undefined {
  const node = changedNode(value, zero, type, 0)
  return node === unsupported ? undefined : (node?.children ?? emptySet)
}

/** The difference from an existing value. */
function changedNode(value: JsonValue, zero: JsonValue, type: TypeRef, depth: number): Result {
  const { single, map, list, scalar } = type.atom
  if (single === 'map' && map !== undefined && !map.atomic) return changedMap(value, zero, map, depth)
  if (single === 'list' && list !== undefined && !list.atomic) return changedList(value, zero, list, depth)
  if (single === undefined || (scalar !== undefined && validateScalar(scalar, value) !== undefined)) return unsupported
  return equalValues(zero, value) ? undefined : leaf
}

function changedMap(value: JsonValue, zero: JsonValue, map: MapAtom, depth: number): Result {
  if (!isJsonObject(value) || depth > maxObjectDepth) return unsupported
  const unset = asMap(zero)
  let nodes: Nodes | undefined
  let empty = true
  for (const key in value) {
    empty = false
    const member = value[key]
    const field = map.fields.get(key)
    const type = field?.type ?? map.items
    if (member === undefined || type === undefined) continue
    const before = unset === undefined ? undefined : ownMember(unset, key)
    const node = before === undefined ? wholeNode(member, type, depth + 1) : changedNode(member, before, type, depth + 1)
    if (node === unsupported) return unsupported
    if (node === undefined) continue
    nodes ??= new Map()
    nodes.set(field === undefined ? `f:${key}` : field.element, node)
  }
  // An empty map differs from an absent one, but not from an empty one.
  if (nodes === undefined) return empty && unset === undefined ? leaf : undefined
  return { member: false, children: new FieldSet(nodes) }
}

function changedList(value: JsonValue, zero: JsonValue, list: ListAtom, depth: number): Result {
  if (!Array.isArray(value) || zero !== null) return unsupported
  if (value.length === 0) return leaf
  const nodes = itemNodes(value, list, depth)
  return nodes === unsupported ? unsupported : { member: false, children: new FieldSet(nodes) }
}

/** All paths of an added value. */
function wholeNode(value: JsonValue, type: TypeRef, depth: number): Result {
  const { atom } = type
  const form = formOf(atom, value) ?? defaultForm(atom)
  if (form === 'map' && atom.map !== undefined) return atom.map.atomic ? leaf : wholeMap(value, atom.map, depth)
  if (form !== 'list' || atom.list === undefined) return atom.scalar === undefined ? unsupported : leaf
  if (atom.list.atomic) return leaf
  const nodes = itemNodes(asList(value) ?? [], atom.list, depth)
  if (nodes === unsupported) return unsupported
  return nodes.size === 0 ? leaf : { member: true, children: new FieldSet(nodes) }
}

function wholeMap(value: JsonValue, map: MapAtom, depth: number): FieldNode | typeof unsupported {
  if (depth > maxObjectDepth) return unsupported
  const members = asMap(value)
  let nodes: Nodes | undefined
  for (const key in members) {
    const member = members[key]
    const field = map.fields.get(key)
    const type = field?.type ?? map.items
    if (member === undefined || type === undefined) continue
    const node = wholeNode(member, type, depth + 1)
    if (node === unsupported) return unsupported
    nodes ??= new Map()
    nodes.set(field === undefined ? `f:${key}` : field.element, node as FieldNode)
  }
  return nodes === undefined ? leaf : { member: true, children: new FieldSet(nodes) }
}

function itemNodes(items: readonly JsonValue[], list: ListAtom, depth: number): Nodes | typeof unsupported {
  if (depth > maxObjectDepth) return unsupported
  const nodes: Nodes = new Map()
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as JsonValue
    const element = itemElement(list, item)
    if (element instanceof ListItemError) return unsupported
    // Duplicates are added and removed as a whole.
    const node = nodes.has(element) ? leaf : wholeNode(item, list.items, depth + 1)
    if (node === unsupported) return unsupported
    nodes.set(element, node as FieldNode)
  }
  return nodes
}
