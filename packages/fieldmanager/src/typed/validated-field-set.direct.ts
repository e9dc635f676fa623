// Derived from validated-field-set.ts by `npm run direct`: do not edit.
import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { emptySet, type FieldNode, type FieldSet, leaf } from '../fieldpath/field-set.ts'
import { isEmptyMap } from '../value/order.ts'
import { LevelBuilder } from './level-builder.ts'
import { itemElement, ListItemError } from './list-item.ts'
import { defaultForm, formOf, type ListAtom, type MapAtom, type ScalarAtom, type TypeRef } from './types.ts'
import { validateScalar } from './validate.ts'
import { checkDepth, invalid, manyMembers, namesOf, type Position, scalarOf } from './validated-field-set.ts'

/**
 * Combines `validateValue` and `fieldSetOf` in one walk.
 *
 * @param like A similar set; equal parts of it are reused.
 * @returns `undefined` for a value that does not match; `validateValue` reports the errors.
 * @throws FieldManagerError `TooLarge` for more than 1000 levels.
 */
export function validatedFieldSet(value: JsonValue, type: TypeRef, like?: FieldSet): FieldSet | undefined {
  const node = nodeOf(value, type, { member: false, depth: 0, like })
  return node === invalid ? undefined : (node?.children ?? emptySet)
}

/** The paths at a value, or `undefined` when there are none. */
type Result<T> = T | undefined | typeof invalid

function nodeOf(value: JsonValue, type: TypeRef, { member, depth, like }: Position): Result<FieldNode> {
  const { atom } = type
  const form = formOf(atom, value) ?? defaultForm(atom)
  let children: FieldSet | undefined | typeof invalid
  if (form === 'map' && atom.map !== undefined) {
    if (atom.map.atomic) return membersFit(value, atom.map, depth) ? leaf : invalid
    if (value === null) return member ? leaf : undefined
    children = isJsonObject(value) ? memberSet(value, atom.map, depth, like) : invalid
  } else if (form === 'list' && atom.list !== undefined) {
    if (atom.list.atomic) return itemsFit(value, atom.list, depth) ? leaf : invalid
    if (value === null) return member ? leaf : undefined
    children = Array.isArray(value) ? itemSet(value, atom.list, depth, like) : invalid
  } else return atom.scalar !== undefined && validateScalar(atom.scalar, value) === undefined ? leaf : invalid
  if (children === invalid) return invalid
  if (children !== undefined) return { member, children }
  return member ? leaf : undefined
}

function memberSet(value: JsonObject, map: MapAtom, depth: number, like?: FieldSet): Result<FieldSet> {
  checkDepth(depth)
  const scalar = map.fields.size === 0 ? scalarOf(map.items) : undefined
  if (scalar !== undefined) return scalarSet(value, scalar, like)
  const level = new LevelBuilder(like)

  for (const key in value) {
    const inner = value[key]
    if (inner === undefined) continue
    const field = map.fields.get(key)
    const type = field?.type ?? map.items
    if (type === undefined) return invalid
    const element = field === undefined ? `f:${key}` : field.element
    const node = nodeOf(inner, type, {
      member: field === undefined || inner === null,
      depth: depth + 1,
      like: level.below(element),
    })
    if (node === invalid) return invalid
    // An empty struct counts as a member itself.
    if (node === undefined && !(isJsonObject(inner) && isEmptyMap(inner))) continue
    level.add(element, node ?? leaf)
  }
  return level.build()
}

/** Fast path for maps of scalars, such as labels and data, which may be large. */
function scalarSet(value: JsonObject, scalar: ScalarAtom, like?: FieldSet): Result<FieldSet> {
  if (like !== undefined && like.nodes.size >= manyMembers && hasExactlyMembersOf(value, scalar, like)) return like
  const level = new LevelBuilder(like)

  for (const key in value) {
    const inner = value[key]
    if (inner === undefined) continue
    if (validateScalar(scalar, inner) !== undefined) return invalid
    level.add(`f:${key}`, leaf)
  }
  return level.build()
}

/** Whether a value matches and has exactly the members of a set; this check is cheaper than rebuilding the set. */
function hasExactlyMembersOf(value: JsonObject, scalar: ScalarAtom, set: FieldSet): boolean {
  const names = namesOf(set)
  let size = 0

  for (const key in value) {
    const inner = value[key]
    if (inner === undefined || !names.has(key) || validateScalar(scalar, inner) !== undefined) return false
    size++
  }
  return size === names.size
}

function itemSet(items: readonly JsonValue[], list: ListAtom, depth: number, like?: FieldSet): Result<FieldSet> {
  checkDepth(depth)
  const level = new LevelBuilder(like)
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as JsonValue
    const element = itemElement(list, item)
    if (element instanceof ListItemError || level.has(element)) return invalid
    const node = nodeOf(item, list.items, { member: true, depth: depth + 1, like: level.below(element) })
    if (node === invalid) return invalid
    level.add(element, node ?? leaf)
  }
  return level.build()
}

/** Whether an atomic part matches its type. */
function fits(value: JsonValue, type: TypeRef, depth: number): boolean {
  const { atom } = type
  const form = formOf(atom, value) ?? defaultForm(atom)
  if (form === 'map' && atom.map !== undefined) return membersFit(value, atom.map, depth)
  if (form !== 'list' || atom.list === undefined)
    return atom.scalar !== undefined && validateScalar(atom.scalar, value) === undefined
  if (atom.list.atomic) return itemsFit(value, atom.list, depth)
  return value === null || (Array.isArray(value) && itemSet(value, atom.list, depth) !== invalid)
}

function membersFit(value: JsonValue, map: MapAtom, depth: number): boolean {
  if (value === null) return true
  if (!isJsonObject(value)) return false
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
  for (let i = 0; i < value.length; i++) {
    if (!fits(value[i] as JsonValue, list.items, depth + 1)) return false
  }
  return true
}
