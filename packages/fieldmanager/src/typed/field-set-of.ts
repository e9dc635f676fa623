import { isJsonObject, type JsonValue } from '@krmkit/meta'
import type { PathElement } from '../fieldpath/element.ts'
import { emptySet, type FieldNode, FieldSet, leaf } from '../fieldpath/field-set.ts'
import { isEmptyMap } from '../value/order.ts'
import { itemElement, ListItemError } from './list-item.ts'
import { defaultForm, formOf, type ListAtom, type MapAtom, type TypeRef } from './types.ts'
import { maxObjectDepth, tooDeepError } from './walk.ts'

/**
 * The paths that a value sets, which an apply of it owns: leaves, atomic parts, items of associative lists, members of maps (but
 * not of structs), and empty or null members.
 *
 * @example
 * ```ts
 * import { deducedType, fieldSetOf } from '@krmkit/fieldmanager/typed'
 *
 * fieldSetOf({ spec: { replicas: 3 } }, deducedType).toString() // '.spec\n.spec.replicas'
 * ```
 */
export function fieldSetOf(value: JsonValue, type: TypeRef): FieldSet {
  return nodeOf(value, type, { member: false, depth: 0 })?.children ?? emptySet
}

interface Position {
  /** Whether the path of the value itself is a member, whatever the value contains. */
  readonly member: boolean
  readonly depth: number
}

/** The paths of a value; `undefined` when there are none. */
export function nodeOf(value: JsonValue, type: TypeRef, { member, depth }: Position): FieldNode | undefined {
  if (depth > maxObjectDepth) throw tooDeepError()
  const { atom } = type
  const form = formOf(atom, value) ?? defaultForm(atom)
  let nodes: Map<PathElement, FieldNode> | undefined
  if (form === 'map' && atom.map !== undefined) {
    if (atom.map.atomic) return leaf
    nodes = memberNodes(value, atom.map, depth)
  } else if (form === 'list' && atom.list !== undefined) {
    if (atom.list.atomic) return leaf
    nodes = itemNodes(value, atom.list, depth)
  } else return leaf
  if (nodes !== undefined) return { member, children: new FieldSet(nodes) }
  return member ? leaf : undefined
}

type Nodes = Map<PathElement, FieldNode>

function memberNodes(value: JsonValue, map: MapAtom, depth: number): Nodes | undefined {
  if (!isJsonObject(value)) return undefined
  let nodes: Map<PathElement, FieldNode> | undefined
  for (const key in value) {
    const member = value[key]
    if (member === undefined) continue
    const field = map.fields.get(key)
    const type = field?.type ?? map.items
    if (type === undefined) continue
    const node = nodeOf(member, type, { member: field === undefined || member === null, depth: depth + 1 })
    // An empty struct counts as a member itself.
    if (node === undefined && !(isJsonObject(member) && isEmptyMap(member))) continue
    nodes ??= new Map()
    nodes.set(field === undefined ? `f:${key}` : field.element, node ?? leaf)
  }
  return nodes
}

function itemNodes(value: JsonValue, list: ListAtom, depth: number): Nodes | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  const nodes = new Map<PathElement, FieldNode>()
  for (const item of value) {
    const element = itemElement(list, item)
    if (element instanceof ListItemError) continue
    // Duplicates are owned together, as a whole.
    nodes.set(element, nodes.has(element) ? leaf : (nodeOf(item, list.items, { member: true, depth: depth + 1 }) ?? leaf))
  }
  return nodes.size === 0 ? undefined : nodes
}
