import { memberNames, type Work } from '@krmkit/base/work'
import { isJsonObject, type JsonValue } from '@krmkit/meta'
import type { PathElement } from '../fieldpath/element.ts'
import { emptySet, type FieldNode, FieldSet, leaf } from '../fieldpath/field-set.ts'
import { isEmptyMap, type OptionalJsonValue } from '../value/order.ts'
import { nodeOf } from './field-set-of.ts'
import { itemElement, ListItemError } from './list-item.ts'
import { defaultForm, formOf, type ListAtom, type MapAtom, type TypeRef } from './types.ts'
import { maxObjectDepth, tooDeepError } from './walk.ts'

/** Number of members and items visited between two yields. */
const stepSize = 64

/** The element for items without keys, which no manager can own. */
const keylessElement: PathElement = '?'

/** The paths below a map or list; `undefined` when there are none. */
type SetWork = Work<FieldSet | undefined>

/** Cached sets of values that several objects share. The difference of two objects skips shared sets. */
export type KnownPaths = Map<JsonValue, { readonly type: TypeRef; readonly set: FieldSet | undefined }>

/**
 * The paths of an object for pruning: like `fieldSetOf`, but including struct fields and items that have lost their keys.
 *
 * @throws FieldManagerError `TooLarge` for more than 1000 levels.
 */
export function* pathsWithStructs(value: OptionalJsonValue, type: TypeRef, known: KnownPaths): Work<FieldSet> {
  return (yield* setBelow(value ?? null, type, { depth: 0, known })) ?? emptySet
}

interface Position {
  readonly depth: number
  readonly known: KnownPaths
}

function* nodeBelow(value: JsonValue, type: TypeRef, position: Position, member: boolean): Work<FieldNode | undefined> {
  if (typeof value !== 'object' || value === null) return nodeOf(value, type, { member, depth: position.depth })
  const { map, list } = type.atom
  const form = formOf(type.atom, value) ?? defaultForm(type.atom)
  // Atomic parts and scalars have no paths below them.
  if (!((form === 'map' && map?.atomic === false) || (form === 'list' && list?.atomic === false))) return leaf
  const children = yield* setBelow(value, type, position)
  if (children !== undefined) return { member: true, children }
  return member ? leaf : undefined
}

function* setBelow(value: JsonValue, type: TypeRef, { depth, known }: Position): SetWork {
  if (depth > maxObjectDepth) throw tooDeepError()
  const found = known.get(value)
  if (found?.type === type) return found.set
  const { map, list } = type.atom
  const form = formOf(type.atom, value) ?? defaultForm(type.atom)
  const below = { depth: depth + 1, known }
  let set: FieldSet | undefined
  if (form === 'map' && map?.atomic === false) set = yield* memberSet(value, map, below)
  else if (form === 'list' && list?.atomic === false) set = yield* itemSet(value, list, below)
  known.set(value, { type, set })
  return set
}

function* memberSet(value: JsonValue, map: MapAtom, below: Position): SetWork {
  if (!isJsonObject(value)) return undefined
  const keys = memberNames(value)
  if (keys.length > stepSize) yield true
  const nodes = new Map<PathElement, FieldNode>()
  for (let i = 0; i < keys.length; i++) {
    if (i % stepSize === stepSize - 1) yield
    const key = keys[i] as string
    const member = value[key]
    const field = map.fields.get(key)
    const type = field?.type ?? map.items
    if (member === undefined || type === undefined) continue
    const node = yield* nodeBelow(member, type, below, field === undefined || member === null)
    // An empty struct counts as a member itself.
    if (node === undefined && !(isJsonObject(member) && isEmptyMap(member))) continue
    nodes.set(field === undefined ? `f:${key}` : field.element, node ?? leaf)
  }
  return nodes.size === 0 ? undefined : new FieldSet(nodes)
}

function* itemSet(value: JsonValue, list: ListAtom, below: Position): SetWork {
  if (!Array.isArray(value) || value.length === 0) return undefined
  const nodes = new Map<PathElement, FieldNode>()
  for (let i = 0; i < value.length; i++) {
    if (i % stepSize === stepSize - 1) yield
    const item = value[i] as JsonValue
    const element = itemElement(list, item)
    if (element instanceof ListItemError) nodes.set(keylessElement, leaf)
    // Duplicates are owned together, as a whole.
    else if (nodes.has(element)) nodes.set(element, leaf)
    else nodes.set(element, (yield* nodeBelow(item, list.items, below, true)) ?? leaf)
  }
  return new FieldSet(nodes)
}
