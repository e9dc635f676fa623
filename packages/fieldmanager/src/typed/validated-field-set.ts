import { memberNames, type Work } from '@krmkit/base/work'
import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { emptySet, type FieldNode, type FieldSet, leaf } from '../fieldpath/field-set.ts'
import { isEmptyMap } from '../value/order.ts'
import { LevelBuilder } from './level-builder.ts'
import { itemElement, ListItemError } from './list-item.ts'
import { defaultForm, formOf, type ListAtom, type MapAtom, type ScalarAtom, type TypeRef } from './types.ts'
import { validateScalar } from './validate.ts'
import { maxObjectDepth, tooDeepError } from './walk.ts'

/** Marks a value that does not match its type. */
export const invalid = false

/**
 * Combines `validateValue` and `fieldSetOf` in one walk.
 *
 * @param like A similar set; equal parts of it are reused.
 * @returns `undefined` for a value that does not match; `validateValue` reports the errors.
 * @throws FieldManagerError `TooLarge` for more than 1000 levels.
 */
export function* validatedFieldSet(value: JsonValue, type: TypeRef, like?: FieldSet): Work<FieldSet | undefined> {
  const node = yield* nodeOf(value, type, { member: false, depth: 0, like })
  return node === invalid ? undefined : (node?.children ?? emptySet)
}

/** The paths at a value, or `undefined` when there are none. */
type Result<T> = Work<T | undefined | typeof invalid>

export interface Position {
  /** Whether the path of the value itself is a member, whatever the value contains. */
  readonly member: boolean
  readonly depth: number
  readonly like: FieldSet | undefined
}

/** Number of members and items visited between two yields. */
const stepSize = 64

function* nodeOf(value: JsonValue, type: TypeRef, { member, depth, like }: Position): Result<FieldNode> {
  const { atom } = type
  const form = formOf(atom, value) ?? defaultForm(atom)
  let children: FieldSet | undefined | typeof invalid
  if (form === 'map' && atom.map !== undefined) {
    if (atom.map.atomic) return (yield* membersFit(value, atom.map, depth)) ? leaf : invalid
    if (value === null) return member ? leaf : undefined
    children = isJsonObject(value) ? yield* memberSet(value, atom.map, depth, like) : invalid
  } else if (form === 'list' && atom.list !== undefined) {
    if (atom.list.atomic) return (yield* itemsFit(value, atom.list, depth)) ? leaf : invalid
    if (value === null) return member ? leaf : undefined
    children = Array.isArray(value) ? yield* itemSet(value, atom.list, depth, like) : invalid
  } else return atom.scalar !== undefined && validateScalar(atom.scalar, value) === undefined ? leaf : invalid
  if (children === invalid) return invalid
  if (children !== undefined) return { member, children }
  return member ? leaf : undefined
}

function* memberSet(value: JsonObject, map: MapAtom, depth: number, like?: FieldSet): Result<FieldSet> {
  checkDepth(depth)
  const scalar = map.fields.size === 0 ? scalarOf(map.items) : undefined
  if (scalar !== undefined) return yield* scalarSet(value, scalar, like)
  const level = new LevelBuilder(like)
  let visited = 0
  const keys = memberNames(value)
  if (keys.length > stepSize) yield true
  for (const key of keys) {
    if (++visited % stepSize === 0) yield
    const inner = value[key]
    if (inner === undefined) continue
    const field = map.fields.get(key)
    const type = field?.type ?? map.items
    if (type === undefined) return invalid
    const element = field === undefined ? `f:${key}` : field.element
    const node = yield* nodeOf(inner, type, {
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

export function scalarOf(type: TypeRef | undefined): ScalarAtom | undefined {
  return type?.atom.single === 'scalar' ? type.atom.scalar : undefined
}

/** Fast path for maps of scalars, such as labels and data, which may be large. */
function* scalarSet(value: JsonObject, scalar: ScalarAtom, like?: FieldSet): Result<FieldSet> {
  if (like !== undefined && like.nodes.size >= manyMembers && (yield* hasExactlyMembersOf(value, scalar, like))) return like
  const level = new LevelBuilder(like)
  let visited = 0
  const keys = memberNames(value)
  if (keys.length > stepSize) yield true
  for (const key of keys) {
    if (++visited % stepSize === 0) yield
    const inner = value[key]
    if (inner === undefined) continue
    if (validateScalar(scalar, inner) !== undefined) return invalid
    level.add(`f:${key}`, leaf)
  }
  return level.build()
}

/** Whether a value matches and has exactly the members of a set; this check is cheaper than rebuilding the set. */
function* hasExactlyMembersOf(value: JsonObject, scalar: ScalarAtom, set: FieldSet): Work<boolean> {
  const names = namesOf(set)
  let size = 0
  let visited = 0
  const keys = memberNames(value)
  if (keys.length > stepSize) yield true
  for (const key of keys) {
    if (++visited % stepSize === 0) yield
    const inner = value[key]
    if (inner === undefined || !names.has(key) || validateScalar(scalar, inner) !== undefined) return false
    size++
  }
  return size === names.size
}

export const manyMembers = 64
const noNames: ReadonlySet<string> = new Set()

/** Cached member names per set. */
const namesBySet = new WeakMap<FieldSet, ReadonlySet<string>>()

/** The names in a flat set of fields; empty for every other set. */
export function namesOf(set: FieldSet): ReadonlySet<string> {
  let names = namesBySet.get(set)
  if (names === undefined) {
    const found = new Set<string>()
    for (const [element, node] of set.nodes) if (node === leaf && element[0] === 'f') found.add(element.slice(2))
    names = found.size === set.nodes.size ? found : noNames
    namesBySet.set(set, names)
  }
  return names
}

function* itemSet(items: readonly JsonValue[], list: ListAtom, depth: number, like?: FieldSet): Result<FieldSet> {
  checkDepth(depth)
  const level = new LevelBuilder(like)
  for (let i = 0; i < items.length; i++) {
    if (i % stepSize === stepSize - 1) yield
    const item = items[i] as JsonValue
    const element = itemElement(list, item)
    if (element instanceof ListItemError || level.has(element)) return invalid
    const node = yield* nodeOf(item, list.items, { member: true, depth: depth + 1, like: level.below(element) })
    if (node === invalid) return invalid
    level.add(element, node ?? leaf)
  }
  return level.build()
}

/** Whether an atomic part matches its type. */
function* fits(value: JsonValue, type: TypeRef, depth: number): Work<boolean> {
  const { atom } = type
  const form = formOf(atom, value) ?? defaultForm(atom)
  if (form === 'map' && atom.map !== undefined) return yield* membersFit(value, atom.map, depth)
  if (form !== 'list' || atom.list === undefined)
    return atom.scalar !== undefined && validateScalar(atom.scalar, value) === undefined
  if (atom.list.atomic) return yield* itemsFit(value, atom.list, depth)
  return value === null || (Array.isArray(value) && (yield* itemSet(value, atom.list, depth)) !== invalid)
}

function* membersFit(value: JsonValue, map: MapAtom, depth: number): Work<boolean> {
  if (value === null) return true
  if (!isJsonObject(value)) return false
  checkDepth(depth)
  let visited = 0
  const keys = memberNames(value)
  if (keys.length > stepSize) yield true
  for (const key of keys) {
    if (++visited % stepSize === 0) yield
    const inner = value[key]
    if (inner === undefined) continue
    const type = map.fields.get(key)?.type ?? map.items
    if (type === undefined || !(yield* fits(inner, type, depth + 1))) return false
  }
  return true
}

function* itemsFit(value: JsonValue, list: ListAtom, depth: number): Work<boolean> {
  if (value === null) return true
  if (!Array.isArray(value)) return false
  checkDepth(depth)
  for (let i = 0; i < value.length; i++) {
    if (i % stepSize === stepSize - 1) yield
    if (!(yield* fits(value[i] as JsonValue, list.items, depth + 1))) return false
  }
  return true
}

export function checkDepth(depth: number): void {
  if (depth >= maxObjectDepth) throw tooDeepError()
}
