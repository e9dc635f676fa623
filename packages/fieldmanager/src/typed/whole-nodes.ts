import { memberNames, type Work } from '@krmkit/base/work'
import type { JsonValue } from '@krmkit/meta'
import { type FieldNode, type FieldSet, leaf } from '../fieldpath/field-set.ts'
import type { LazyWalk } from './compare-walk.ts'
import { LevelBuilder } from './level-builder.ts'
import { reportedElement } from './list-item.ts'
import { asList, asMap, defaultForm, formOf, type ListAtom, type MapAtom, type TypeRef } from './types.ts'

/** Number of members and items visited between two yields. */
const stepSize = 64

/**
 * All paths of a value that is added or removed as a whole.
 *
 * @param like A similar set; equal parts of it are reused.
 */
export function* wholeNode(walk: LazyWalk, type: TypeRef, value: JsonValue, like?: FieldSet): Work<FieldNode> {
  const { atom } = type
  const form = formOf(atom, value) ?? defaultForm(atom)
  if (form === 'map' && atom.map !== undefined) return atom.map.atomic ? leaf : yield* wholeMap(walk, atom.map, value, like)
  if (form === 'list' && atom.list !== undefined) {
    const children = atom.list.atomic ? undefined : yield* wholeItems(walk, atom.list, asList(value) ?? [], like)
    return children === undefined ? leaf : { member: true, children }
  }
  if (atom.scalar === undefined) walk.fail(`schema error: invalid atom: ${type.name ?? 'inlined'}`)
  return leaf
}

function* wholeMap(walk: LazyWalk, map: MapAtom, value: JsonValue, like?: FieldSet): Work<FieldNode> {
  const members = asMap(value)
  if (members === undefined) return leaf
  const level = new LevelBuilder(like)
  const keys = memberNames(members)
  if (keys.length > stepSize) yield true
  for (const key of keys) {
    if (++walk.visited % stepSize === 0) yield
    const member = members[key]
    const field = map.fields.get(key)
    const type = field?.type ?? map.items
    if (member === undefined || type === undefined) continue
    const element = field === undefined ? `f:${key}` : field.element
    walk.enter(element)
    level.add(element, yield* wholeNode(walk, type, member, level.below(element)))
    walk.path.pop()
  }
  const children = level.build()
  return children === undefined ? leaf : { member: true, children }
}

/** All paths of the items of a list; `undefined` without items. */
export function* wholeItems(
  walk: LazyWalk,
  list: ListAtom,
  items: readonly JsonValue[],
  like?: FieldSet,
): Work<FieldSet | undefined> {
  const level = new LevelBuilder(like)
  for (let i = 0; i < items.length; i++) {
    if (++walk.visited % stepSize === 0) yield
    const element = reportedElement(walk, list, items, i)
    if (element === undefined) continue
    walk.enter(element)
    // Duplicates are added and removed as a whole.
    const isDuplicate = level.has(element)
    level.add(element, isDuplicate ? leaf : yield* wholeNode(walk, list.items, items[i] as JsonValue, level.below(element)))
    walk.path.pop()
  }
  return level.build()
}
