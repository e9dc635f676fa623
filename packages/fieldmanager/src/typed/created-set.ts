import { memberNames, type Work } from '@krmkit/base/work'
import { isJsonObject, type JsonValue } from '@krmkit/meta'
import { emptySet, type FieldNode, type FieldSet, leaf } from '../fieldpath/field-set.ts'
import { equalValues } from '../value/equal.ts'
import { LazyWalk } from './compare-walk.ts'
import { LevelBuilder } from './level-builder.ts'
import { asMap, type ListAtom, type MapAtom, ownMember, type TypeRef } from './types.ts'
import { validateScalar } from './validate.ts'
import { wholeItems, wholeNode } from './whole-nodes.ts'

/** Marks a value that this fast path cannot handle. */
export const unsupported = false

type Result = Work<FieldNode | undefined | typeof unsupported>

/**
 * Fast path of `compareTyped` for created objects: returns the added and modified paths between the zero object and the value.
 *
 * @param like A similar set; equal parts of it are reused.
 * @returns `undefined` when the result is uncertain; use `compareTyped` instead.
 * @throws FieldManagerError `TooLarge` for more than 1000 levels.
 */
export function* createdSet(value: JsonValue, zero: JsonValue, type: TypeRef, like?: FieldSet): Work<FieldSet | undefined> {
  const walk = new LazyWalk()
  const node = yield* changedNode(walk, type, { value, zero, like })
  return node === unsupported || walk.errors.length > 0 ? undefined : (node?.children ?? emptySet)
}

export interface Change {
  readonly value: JsonValue
  readonly zero: JsonValue
  /** The part of the similar set at this level. */
  readonly like: FieldSet | undefined
}

/** The node for the difference between an existing value and the new one. */
function* changedNode(walk: LazyWalk, type: TypeRef, change: Change): Result {
  const { single, map, list, scalar } = type.atom
  if (single === 'map' && map !== undefined && !map.atomic) return yield* changedMap(walk, map, change)
  if (single === 'list' && list !== undefined && !list.atomic) return yield* changedList(walk, list, change)
  if (single === undefined || (scalar !== undefined && validateScalar(scalar, change.value) !== undefined)) return unsupported
  return (yield* equalValues(change.zero, change.value)) ? undefined : leaf
}

/** Number of members visited between two yields. */
const stepSize = 64

function* changedMap(walk: LazyWalk, map: MapAtom, { value, zero, like }: Change): Result {
  if (!isJsonObject(value)) return unsupported
  const unset = asMap(zero)
  const level = new LevelBuilder(like)
  let empty = true
  const keys = memberNames(value)
  if (keys.length > stepSize) yield true
  for (const key of keys) {
    if (++walk.visited % stepSize === 0) yield
    empty = false
    const member = value[key]
    const field = map.fields.get(key)
    const type = field?.type ?? map.items
    if (member === undefined || type === undefined) continue
    const before = unset === undefined ? undefined : ownMember(unset, key)
    const element = field === undefined ? `f:${key}` : field.element
    const below = level.below(element)
    walk.enter(element)
    const node =
      before === undefined
        ? yield* wholeNode(walk, type, member, below)
        : yield* changedNode(walk, type, { value: member, zero: before, like: below })
    walk.path.pop()
    if (node === unsupported) return unsupported
    if (node !== undefined) level.add(element, node)
  }
  const children = level.build()
  // An empty map differs from an absent one, but not from an empty one.
  if (children === undefined) return empty && unset === undefined ? leaf : undefined
  return { member: false, children }
}

function* changedList(walk: LazyWalk, list: ListAtom, { value, zero, like }: Change): Result {
  if (!Array.isArray(value) || zero !== null) return unsupported
  if (value.length === 0) return leaf
  return { member: false, children: yield* wholeItems(walk, list, value, like) }
}
