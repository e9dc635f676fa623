import { isJsonObject, type JsonValue } from '@krmkit/meta'
import { memberNames, type Work } from '@krmkit/meta/work'
import type { PathElement } from '../fieldpath/element.ts'
import { emptySet, type FieldNode, FieldSet, leaf } from '../fieldpath/field-set.ts'
import { isEmptyMap } from '../value/order.ts'
import { itemElement, ListItemError } from './list-item.ts'
import { defaultForm, formOf, type ListAtom, type MapAtom, type ScalarAtom, type TypeRef } from './types.ts'
import { validateScalar } from './validate.ts'
import {
  checkDepth,
  fits,
  invalid,
  type Members,
  manyMembers,
  namesOf,
  nodeOf,
  type Position,
  scalarOf,
  type ValidatedNode,
} from './validated-field-set.ts'

/**
 * As `validatedFieldSet`, for large values: a generator that can be interrupted at each yield.
 *
 * @throws FieldManagerError `TooLarge` for more than 1000 levels.
 */
export function* validatedFieldSetSteps(value: JsonValue, type: TypeRef, like?: FieldSet): Work<FieldSet | undefined> {
  const node = yield* nodeSteps(value, type, { member: false, depth: 0, like })
  return node === invalid ? undefined : (node?.children ?? emptySet)
}

/** Members and items visited between two yields. */
const stepSize = 64

function* nodeSteps(value: JsonValue, type: TypeRef, position: Position): Work<ValidatedNode> {
  if (typeof value !== 'object' || value === null) return nodeOf(value, type, position)
  const { map, list } = type.atom
  const form = formOf(type.atom, value) ?? defaultForm(type.atom)
  const { member, depth } = position
  if (form === 'map' && map !== undefined) {
    if (!isJsonObject(value)) return invalid
    if (map.atomic) return (yield* membersFitSteps(value, map, depth)) ? leaf : invalid
    return asNode(yield* memberSteps(value, map, position), member)
  }
  if (form === 'list' && list !== undefined) {
    if (!Array.isArray(value)) return invalid
    if (list.atomic) return (yield* itemsFitSteps(value, list, depth)) ? leaf : invalid
    return asNode(yield* itemSteps(value, list, depth), member)
  }
  return nodeOf(value, type, position)
}

function asNode(children: FieldSet | undefined | typeof invalid, member: boolean): ValidatedNode {
  if (children === invalid) return invalid
  if (children !== undefined) return { member, children }
  return member ? leaf : undefined
}

type SetSteps = Work<FieldSet | undefined | typeof invalid>

function* memberSteps(value: Members, map: MapAtom, { depth, like }: Position): SetSteps {
  checkDepth(depth)
  const keys = memberNames(value)
  if (keys.length > stepSize) yield true
  const scalar = map.fields.size === 0 ? scalarOf(map.items) : undefined
  if (scalar !== undefined) return yield* scalarSteps(value, keys, scalar, like)
  const nodes = new Map<PathElement, FieldNode>()
  for (let i = 0; i < keys.length; i++) {
    if (i % stepSize === stepSize - 1) yield
    const key = keys[i] as string
    const inner = value[key]
    if (inner === undefined) continue
    const field = map.fields.get(key)
    const type = field?.type ?? map.items
    if (type === undefined) return invalid
    const element = field === undefined ? `f:${key}` : field.element
    const node = yield* nodeSteps(inner, type, {
      member: field === undefined || inner === null,
      depth: depth + 1,
      like: like?.nodes.get(element)?.children,
    })
    if (node === invalid) return invalid
    // An empty struct is a member itself.
    if (node === undefined && !(isJsonObject(inner) && isEmptyMap(inner))) continue
    nodes.set(element, node ?? leaf)
  }
  return nodes.size === 0 ? undefined : new FieldSet(nodes)
}

function* scalarSteps(value: Members, keys: readonly string[], scalar: ScalarAtom, like: FieldSet | undefined): SetSteps {
  const names = like !== undefined && like.nodes.size >= manyMembers ? namesOf(like) : undefined
  // The similar set is the result as long as each member is in it.
  let same = names !== undefined
  const nodes = new Map<PathElement, FieldNode>()
  let size = 0
  for (let i = 0; i < keys.length; i++) {
    if (i % stepSize === stepSize - 1) yield
    const key = keys[i] as string
    const inner = value[key]
    if (inner === undefined) continue
    if (validateScalar(scalar, inner) !== undefined) return invalid
    same &&= names?.has(key) === true
    nodes.set(`f:${key}`, leaf)
    size++
  }
  if (same && size === names?.size) return like
  return nodes.size === 0 ? undefined : new FieldSet(nodes)
}

function* itemSteps(items: readonly JsonValue[], list: ListAtom, depth: number): SetSteps {
  checkDepth(depth)
  if (items.length === 0) return undefined
  const nodes = new Map<PathElement, FieldNode>()
  for (let i = 0; i < items.length; i++) {
    if (i % stepSize === stepSize - 1) yield
    const item = items[i] as JsonValue
    const element = itemElement(list, item)
    if (element instanceof ListItemError || nodes.has(element)) return invalid
    const node = yield* nodeSteps(item, list.items, { member: true, depth: depth + 1, like: undefined })
    if (node === invalid) return invalid
    nodes.set(element, node ?? leaf)
  }
  return new FieldSet(nodes)
}

/** Atomic parts must fit their type as well. */
function* fitSteps(value: JsonValue, type: TypeRef, depth: number): Work<boolean> {
  if (typeof value !== 'object' || value === null) return fits(value, type, depth)
  const { map, list } = type.atom
  const form = formOf(type.atom, value) ?? defaultForm(type.atom)
  if (form === 'map' && map !== undefined) return isJsonObject(value) && (yield* membersFitSteps(value, map, depth))
  if (form !== 'list' || list === undefined) return fits(value, type, depth)
  if (!Array.isArray(value)) return false
  if (list.atomic) return yield* itemsFitSteps(value, list, depth)
  return (yield* itemSteps(value, list, depth)) !== invalid
}

function* membersFitSteps(value: Members, map: MapAtom, depth: number): Work<boolean> {
  checkDepth(depth)
  const keys = memberNames(value)
  if (keys.length > stepSize) yield true
  for (let i = 0; i < keys.length; i++) {
    if (i % stepSize === stepSize - 1) yield
    const key = keys[i] as string
    const inner = value[key]
    if (inner === undefined) continue
    const type = map.fields.get(key)?.type ?? map.items
    if (type === undefined || !(yield* fitSteps(inner, type, depth + 1))) return false
  }
  return true
}

function* itemsFitSteps(value: readonly JsonValue[], list: ListAtom, depth: number): Work<boolean> {
  checkDepth(depth)
  for (let i = 0; i < value.length; i++) {
    if (i % stepSize === stepSize - 1) yield
    if (!(yield* fitSteps(value[i] as JsonValue, list.items, depth + 1))) return false
  }
  return true
}
