import type { JsonValue } from '@krmkit/meta'
import { memberNames, type Work } from '@krmkit/meta/work'
import type { PathElement } from '../fieldpath/element.ts'
import { type FieldNode, FieldSet, type FieldSetBuilder, leaf } from '../fieldpath/field-set.ts'
import type { CompareWalk } from './compare-walk.ts'
import { reportedElement } from './list-item.ts'
import { asList, asMap, defaultForm, formOf, type ListAtom, type MapAtom, type TypeRef } from './types.ts'

/** The paths of values that are added or removed as a whole. */

/** Members between two yields. */
const stepSize = 64

/** All paths of a value that is added or removed as a whole. */
export function wholeNode(walk: CompareWalk, type: TypeRef, value: JsonValue): FieldNode {
  const { atom } = type
  const form = formOf(atom, value) ?? defaultForm(atom)
  if (form === 'map' && atom.map !== undefined) return atom.map.atomic ? leaf : wholeMap(walk, atom.map, value)
  if (form === 'list' && atom.list !== undefined) return atom.list.atomic ? leaf : wholeList(walk, atom.list, value)
  if (atom.scalar === undefined) walk.fail(`schema error: invalid atom: ${type.name ?? 'inlined'}`)
  return leaf
}

function wholeMap(walk: CompareWalk, map: MapAtom, value: JsonValue): FieldNode {
  const members = asMap(value)
  let nodes: Map<PathElement, FieldNode> | undefined
  for (const key in members) {
    const member = members[key]
    const field = map.fields.get(key)
    const type = field?.type ?? map.items
    if (member === undefined || type === undefined) continue
    const element = field === undefined ? `f:${key}` : field.element
    walk.enter(element)
    nodes ??= new Map()
    nodes.set(element, wholeNode(walk, type, member))
    walk.path.pop()
  }
  return nodes === undefined ? leaf : { member: true, children: new FieldSet(nodes) }
}

/** Adds all paths of a value, with pauses. */
export function* insertWhole(walk: CompareWalk, type: TypeRef, value: JsonValue, into: FieldSetBuilder): Work {
  const node = yield* wholeNodeSteps(walk, type, value)
  if (walk.path.length > 0) into.insertNode(walk.resolvePath(), walk.path.length, node)
  else if (node.children !== undefined) into.insertAll(node.children)
}

function* wholeNodeSteps(walk: CompareWalk, type: TypeRef, value: JsonValue): Work<FieldNode> {
  const { map, list } = type.atom
  const form = formOf(type.atom, value) ?? defaultForm(type.atom)
  if (form === 'map' && map !== undefined && !map.atomic) return yield* wholeMapSteps(walk, map, value)
  if (form === 'list' && list !== undefined && !list.atomic) return yield* wholeListSteps(walk, list, value)
  return wholeNode(walk, type, value)
}

function* wholeMapSteps(walk: CompareWalk, map: MapAtom, value: JsonValue): Work<FieldNode> {
  const members = asMap(value) ?? {}
  const keys = memberNames(members)
  if (keys.length > stepSize) yield true
  const nodes = new Map<PathElement, FieldNode>()
  for (const key of keys) {
    const member = members[key]
    const field = map.fields.get(key)
    const type = field?.type ?? map.items
    if (++walk.compared % stepSize === 0) yield
    if (member === undefined || type === undefined) continue
    const element = field === undefined ? `f:${key}` : field.element
    walk.enter(element)
    nodes.set(element, yield* wholeNodeSteps(walk, type, member))
    walk.path.pop()
  }
  return nodes.size === 0 ? leaf : { member: true, children: new FieldSet(nodes) }
}

function* wholeListSteps(walk: CompareWalk, list: ListAtom, value: JsonValue): Work<FieldNode> {
  const items = asList(value) ?? []
  const nodes = new Map<PathElement, FieldNode>()
  for (let i = 0; i < items.length; i++) {
    const element = reportedElement(walk, list, items, i)
    if (++walk.compared % stepSize === 0) yield
    if (element === undefined) continue
    walk.enter(element)
    nodes.set(element, nodes.has(element) ? leaf : yield* wholeNodeSteps(walk, list.items, items[i] as JsonValue))
    walk.path.pop()
  }
  return nodes.size === 0 ? leaf : { member: true, children: new FieldSet(nodes) }
}

function wholeList(walk: CompareWalk, list: ListAtom, value: JsonValue): FieldNode {
  const items = asList(value) ?? []
  const nodes = new Map<PathElement, FieldNode>()
  for (let i = 0; i < items.length; i++) {
    const item = items[i] as JsonValue
    const element = reportedElement(walk, list, items, i)
    if (element === undefined) continue
    walk.enter(element)
    // Duplicates are added and removed as a whole.
    nodes.set(element, nodes.has(element) ? leaf : wholeNode(walk, list.items, item))
    walk.path.pop()
  }
  return nodes.size === 0 ? leaf : { member: true, children: new FieldSet(nodes) }
}
