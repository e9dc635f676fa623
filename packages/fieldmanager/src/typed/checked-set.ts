import type { JsonValue } from '@krmkit/meta'
import { FieldManagerError } from '../errors.ts'
import type { PathElement } from '../fieldpath/element.ts'
import { emptySet, type FieldNode, FieldSet, leaf } from '../fieldpath/field-set.ts'
import { isMap } from '../value/order.ts'
import { ItemProblem, itemElement } from './list-item.ts'
import type { ListAtom, MapAtom, ScalarAtom, TypeRef } from './types.ts'
import { defaultForm, formOf } from './types.ts'
import { scalarProblem } from './validate.ts'
import { maxObjectDepth } from './walk.ts'

/** Stands for a value that does not fit its type. */
const misfit = false

/**
 * What `fieldSetOf` says of a value that `validateValue` has nothing against, in one walk.
 *
 * @returns `undefined` for a value that does not fit: `validateValue` tells why.
 * @throws FieldManagerError `TooLarge` beyond 1000 levels.
 */
export function checkedFieldSet(value: JsonValue, type: TypeRef): FieldSet | undefined {
  const node = nodeOf(value, type, false, 0)
  return node === misfit ? undefined : (node?.children ?? emptySet)
}

/** @param member the path of the value itself is set, whatever it holds. */
function nodeOf(value: JsonValue, type: TypeRef, member: boolean, depth: number): FieldNode | undefined | typeof misfit {
  const { atom } = type
  const form = formOf(atom, value) ?? defaultForm(atom)
  let nodes: Map<PathElement, FieldNode> | undefined | typeof misfit
  if (form === 'map' && atom.map !== undefined) {
    if (atom.map.atomic) return membersFit(value, atom.map, depth) ? leaf : misfit
    if (value === null) return member ? leaf : undefined
    nodes = isMap(value) ? memberNodes(value, atom.map, depth) : misfit
  } else if (form === 'list' && atom.list !== undefined) {
    if (atom.list.atomic) return itemsFit(value, atom.list, depth) ? leaf : misfit
    if (value === null) return member ? leaf : undefined
    nodes = Array.isArray(value) ? itemNodes(value, atom.list, depth) : misfit
  } else return atom.scalar !== undefined && scalarProblem(atom.scalar, value) === undefined ? leaf : misfit
  if (nodes === misfit) return misfit
  if (nodes !== undefined) return { member, children: new FieldSet(nodes) }
  return member ? leaf : undefined
}

function memberNodes(
  value: { [key: string]: JsonValue },
  map: MapAtom,
  depth: number,
): Map<PathElement, FieldNode> | undefined | typeof misfit {
  checkDepth(depth)
  const scalar = map.fields.size === 0 ? scalarOf(map.items) : undefined
  if (scalar !== undefined) return scalarNodes(value, scalar)
  let nodes: Map<PathElement, FieldNode> | undefined
  for (const key in value) {
    const inner = value[key]
    if (inner === undefined) continue
    const field = map.fields.get(key)
    const type = field?.type ?? map.items
    if (type === undefined) return misfit
    const node = nodeOf(inner, type, field === undefined || inner === null, depth + 1)
    if (node === misfit) return misfit
    // An empty struct is a path of its own.
    if (node === undefined && !(isMap(inner) && isEmpty(inner))) continue
    nodes ??= new Map()
    nodes.set(field === undefined ? `f:${key}` : field.element, node ?? leaf)
  }
  return nodes
}

function scalarOf(type: TypeRef | undefined): ScalarAtom | undefined {
  return type?.atom.single === 'scalar' ? type.atom.scalar : undefined
}

/** Labels, data and the like, which may be many. */
function scalarNodes(
  value: { [key: string]: JsonValue },
  scalar: ScalarAtom,
): Map<PathElement, FieldNode> | undefined | typeof misfit {
  let nodes: Map<PathElement, FieldNode> | undefined
  for (const key in value) {
    const inner = value[key]
    if (inner === undefined) continue
    if (scalarProblem(scalar, inner) !== undefined) return misfit
    nodes ??= new Map()
    nodes.set(`f:${key}`, leaf)
  }
  return nodes
}

function itemNodes(
  items: readonly JsonValue[],
  list: ListAtom,
  depth: number,
): Map<PathElement, FieldNode> | undefined | typeof misfit {
  checkDepth(depth)
  if (items.length === 0) return undefined
  const nodes = new Map<PathElement, FieldNode>()
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as JsonValue
    const element = itemElement(list, item)
    if (element instanceof ItemProblem || nodes.has(element)) return misfit
    const node = nodeOf(item, list.items, true, depth + 1)
    if (node === misfit) return misfit
    nodes.set(element, node ?? leaf)
  }
  return nodes
}

/** Parts that are owned as a whole have to fit as well. */
function fits(value: JsonValue, type: TypeRef, depth: number): boolean {
  const { atom } = type
  const form = formOf(atom, value) ?? defaultForm(atom)
  if (form === 'map' && atom.map !== undefined) return membersFit(value, atom.map, depth)
  if (form !== 'list' || atom.list === undefined)
    return atom.scalar !== undefined && scalarProblem(atom.scalar, value) === undefined
  if (atom.list.atomic) return itemsFit(value, atom.list, depth)
  return value === null || (Array.isArray(value) && itemNodes(value, atom.list, depth) !== misfit)
}

function membersFit(value: JsonValue, map: MapAtom, depth: number): boolean {
  if (value === null) return true
  if (!isMap(value)) return false
  checkDepth(depth)
  for (const key in value) {
    const inner = value[key]
    if (inner === undefined) continue
    const type = map.fields.get(key)?.type ?? map.items
    if (type === undefined || !fits(inner, type, depth + 1)) return false
  }
  return true
}

function itemsFit(value: JsonValue, list: ListAtom, depth: number): boolean {
  if (value === null) return true
  if (!Array.isArray(value)) return false
  checkDepth(depth)
  for (let i = 0; i < value.length; i++) if (!fits(value[i] as JsonValue, list.items, depth + 1)) return false
  return true
}

function checkDepth(depth: number): void {
  if (depth >= maxObjectDepth)
    throw new FieldManagerError('TooLarge', `the object is nested deeper than ${maxObjectDepth} levels`)
}

function isEmpty(map: object): boolean {
  for (const _ in map) return false
  return true
}
