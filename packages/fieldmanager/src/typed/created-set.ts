import type { JsonValue } from '@krmkit/meta'
import type { PathElement } from '../fieldpath/element.ts'
import { emptySet, type FieldNode, FieldSet, leaf } from '../fieldpath/field-set.ts'
import { equalValues, isMap } from '../value/order.ts'
import { ItemProblem, itemElement } from './list-item.ts'
import type { ListAtom, MapAtom, TypeRef } from './types.ts'
import { asList, asMap, defaultForm, formOf, ownMember } from './types.ts'
import { scalarProblem } from './validate.ts'
import { maxObjectDepth } from './walk.ts'

/** Marks a value that this fast path cannot handle. */
const misfit = false

type Found = FieldNode | undefined | typeof misfit
type Nodes = Map<PathElement, FieldNode>

/**
 * Fast path of `compareTyped` for created objects: the added and modified paths between the zero object and the value.
 *
 * @returns `undefined` when the result is uncertain; use `compareTyped` instead.
 */
export function createdSet(value: JsonValue, zero: JsonValue, type: TypeRef): FieldSet | undefined {
  const node = nodeBeside(value, zero, type, 0)
  return node === misfit ? undefined : (node?.children ?? emptySet)
}

/** The difference from an existing value. */
function nodeBeside(value: JsonValue, zero: JsonValue, type: TypeRef, depth: number): Found {
  const { single, map, list, scalar } = type.atom
  if (single === 'map' && map !== undefined && !map.atomic) return mapBeside(value, zero, map, depth)
  if (single === 'list' && list !== undefined && !list.atomic) return listBeside(value, zero, list, depth)
  if (single === undefined || (scalar !== undefined && scalarProblem(scalar, value) !== undefined)) return misfit
  return equalValues(zero, value) ? undefined : leaf
}

function mapBeside(value: JsonValue, zero: JsonValue, map: MapAtom, depth: number): Found {
  if (!isMap(value) || depth > maxObjectDepth) return misfit
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
    const node = before === undefined ? wholeNode(member, type, depth + 1) : nodeBeside(member, before, type, depth + 1)
    if (node === misfit) return misfit
    if (node === undefined) continue
    nodes ??= new Map()
    nodes.set(field === undefined ? `f:${key}` : field.element, node)
  }
  // An empty map differs from an absent one, but not from an empty one.
  if (nodes === undefined) return empty && unset === undefined ? leaf : undefined
  return { member: false, children: new FieldSet(nodes) }
}

function listBeside(value: JsonValue, zero: JsonValue, list: ListAtom, depth: number): Found {
  if (!Array.isArray(value) || zero !== null) return misfit
  if (value.length === 0) return leaf
  const nodes = itemNodes(value, list, depth)
  return nodes === misfit ? misfit : { member: false, children: new FieldSet(nodes) }
}

/** All paths of an added value. */
function wholeNode(value: JsonValue, type: TypeRef, depth: number): Found {
  const { atom } = type
  const form = formOf(atom, value) ?? defaultForm(atom)
  if (form === 'map' && atom.map !== undefined) return atom.map.atomic ? leaf : wholeMap(value, atom.map, depth)
  if (form !== 'list' || atom.list === undefined) return atom.scalar === undefined ? misfit : leaf
  if (atom.list.atomic) return leaf
  const nodes = itemNodes(asList(value) ?? [], atom.list, depth)
  if (nodes === misfit) return misfit
  return nodes.size === 0 ? leaf : { member: true, children: new FieldSet(nodes) }
}

function wholeMap(value: JsonValue, map: MapAtom, depth: number): FieldNode | typeof misfit {
  if (depth > maxObjectDepth) return misfit
  const members = asMap(value)
  let nodes: Nodes | undefined
  for (const key in members) {
    const member = members[key]
    const field = map.fields.get(key)
    const type = field?.type ?? map.items
    if (member === undefined || type === undefined) continue
    const node = wholeNode(member, type, depth + 1)
    if (node === misfit) return misfit
    nodes ??= new Map()
    nodes.set(field === undefined ? `f:${key}` : field.element, node as FieldNode)
  }
  return nodes === undefined ? leaf : { member: true, children: new FieldSet(nodes) }
}

function itemNodes(items: readonly JsonValue[], list: ListAtom, depth: number): Nodes | typeof misfit {
  if (depth > maxObjectDepth) return misfit
  const nodes: Nodes = new Map()
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as JsonValue
    const element = itemElement(list, item)
    if (element instanceof ItemProblem) return misfit
    // Duplicates are added and removed as a whole.
    const node = nodes.has(element) ? leaf : wholeNode(item, list.items, depth + 1)
    if (node === misfit) return misfit
    nodes.set(element, node as FieldNode)
  }
  return nodes
}
