import { isJsonObject, type JsonValue } from '@krmkit/meta'
import { emptySet, type FieldNode, type FieldSet, leaf } from '../fieldpath/field-set.ts'
import { equalValues } from '../value/order.ts'
import { LevelBuilder } from './level-builder.ts'
import { itemElement, ListItemError } from './list-item.ts'
import type { ListAtom, MapAtom, TypeRef } from './types.ts'
import { asList, asMap, defaultForm, formOf, ownMember } from './types.ts'
import { validateScalar } from './validate.ts'
import { maxObjectDepth } from './walk.ts'

/** Marks a value that this fast path cannot handle. */
const unsupported = false

type Result = FieldNode | undefined | typeof unsupported

interface Position {
  readonly depth: number
  /** What the similar set has here. */
  readonly like: FieldSet | undefined
}

/**
 * Fast path of `compareTyped` for created objects: the added and modified paths between the zero object and the value.
 *
 * @param like A similar set; equal parts of it are reused.
 * @returns `undefined` when the result is uncertain; use `compareTyped` instead.
 */
export function createdSet(value: JsonValue, zero: JsonValue, type: TypeRef, like?: FieldSet): FieldSet | undefined {
  const node = changedNode(value, zero, type, { depth: 0, like })
  return node === unsupported ? undefined : (node?.children ?? emptySet)
}

/** The difference from an existing value. */
function changedNode(value: JsonValue, zero: JsonValue, type: TypeRef, at: Position): Result {
  const { single, map, list, scalar } = type.atom
  if (single === 'map' && map !== undefined && !map.atomic) return changedMap(value, zero, map, at)
  if (single === 'list' && list !== undefined && !list.atomic) return changedList(value, zero, list, at)
  if (single === undefined || (scalar !== undefined && validateScalar(scalar, value) !== undefined)) return unsupported
  return equalValues(zero, value) ? undefined : leaf
}

function changedMap(value: JsonValue, zero: JsonValue, map: MapAtom, { depth, like }: Position): Result {
  if (!isJsonObject(value) || depth > maxObjectDepth) return unsupported
  const unset = asMap(zero)
  const level = new LevelBuilder(like)
  let empty = true
  for (const key in value) {
    empty = false
    const member = value[key]
    const field = map.fields.get(key)
    const type = field?.type ?? map.items
    if (member === undefined || type === undefined) continue
    const before = unset === undefined ? undefined : ownMember(unset, key)
    const element = field === undefined ? `f:${key}` : field.element
    const at = { depth: depth + 1, like: level.below(element) }
    const node = before === undefined ? wholeNode(member, type, at) : changedNode(member, before, type, at)
    if (node === unsupported) return unsupported
    if (node !== undefined) level.add(element, node)
  }
  const children = level.build()
  // An empty map differs from an absent one, but not from an empty one.
  if (children === undefined) return empty && unset === undefined ? leaf : undefined
  return { member: false, children }
}

function changedList(value: JsonValue, zero: JsonValue, list: ListAtom, at: Position): Result {
  if (!Array.isArray(value) || zero !== null) return unsupported
  if (value.length === 0) return leaf
  const children = itemSet(value, list, at)
  return children === unsupported ? unsupported : { member: false, children }
}

/** All paths of an added value. */
function wholeNode(value: JsonValue, type: TypeRef, at: Position): Result {
  const { atom } = type
  const form = formOf(atom, value) ?? defaultForm(atom)
  if (form === 'map' && atom.map !== undefined) return atom.map.atomic ? leaf : wholeMap(value, atom.map, at)
  if (form !== 'list' || atom.list === undefined) return atom.scalar === undefined ? unsupported : leaf
  if (atom.list.atomic) return leaf
  const children = itemSet(asList(value) ?? [], atom.list, at)
  if (children === unsupported) return unsupported
  return children === undefined ? leaf : { member: true, children }
}

function wholeMap(value: JsonValue, map: MapAtom, { depth, like }: Position): FieldNode | typeof unsupported {
  if (depth > maxObjectDepth) return unsupported
  const members = asMap(value)
  const level = new LevelBuilder(like)
  for (const key in members) {
    const member = members[key]
    const field = map.fields.get(key)
    const type = field?.type ?? map.items
    if (member === undefined || type === undefined) continue
    const element = field === undefined ? `f:${key}` : field.element
    const node = wholeNode(member, type, { depth: depth + 1, like: level.below(element) })
    if (node === unsupported) return unsupported
    level.add(element, node as FieldNode)
  }
  const children = level.build()
  return children === undefined ? leaf : { member: true, children }
}

/** `undefined` without items. */
function itemSet(
  items: readonly JsonValue[],
  list: ListAtom,
  { depth, like }: Position,
): FieldSet | undefined | typeof unsupported {
  if (depth > maxObjectDepth) return unsupported
  const level = new LevelBuilder(like)
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as JsonValue
    const element = itemElement(list, item)
    if (element instanceof ListItemError) return unsupported
    // Duplicates are added and removed as a whole.
    const node = level.has(element) ? leaf : wholeNode(item, list.items, { depth: depth + 1, like: level.below(element) })
    if (node === unsupported) return unsupported
    level.add(element, node as FieldNode)
  }
  return level.build()
}
