import type { PathElement } from '../fieldpath/element.ts'
import { emptySet, type FieldNode, FieldSet, leaf } from '../fieldpath/field-set.ts'
import { deducedName } from './deduced.ts'
import { defaultForm, type MapAtom, type TypeRef } from './types.ts'

/**
 * Adapts a set to a schema that changed since the set was written: paths below a part that became atomic collapse into that part. Parts
 * that became granular are not changed.
 *
 * @returns the same set when nothing changes.
 */
export function reconcileFieldSet(set: FieldSet, type: TypeRef): FieldSet {
  if (type.name === deducedName) return set
  if (set.reconciledWith === type) return set
  const out = reconcileNode({ member: false, children: set }, type, true).children ?? emptySet
  if (!out.empty) out.reconciledWith = type
  return out
}

/** @param root The root itself cannot become a member. */
function reconcileNode(node: FieldNode, type: TypeRef, root = false): FieldNode {
  const { children } = node
  if (children === undefined) return node
  const { atom } = type
  const form = defaultForm(atom)
  if (form === 'map' && atom.map !== undefined) {
    if (isDeducedMap(atom.map)) return node
    if (atom.map.atomic) return root ? node : leaf
    const { map } = atom
    return reconcileChildren(node, children, (element) => (element[0] === 'f' ? fieldType(map, element.slice(2)) : undefined))
  }
  if (form === 'list' && atom.list !== undefined) {
    if (atom.list.atomic) return root ? node : leaf
    const { items } = atom.list
    return reconcileChildren(node, children, () => items)
  }
  return node
}

function reconcileChildren(
  node: FieldNode,
  children: FieldSet,
  typeOf: (element: PathElement) => TypeRef | undefined,
): FieldNode {
  let out: Map<PathElement, FieldNode> | undefined
  for (const [element, child] of children.nodes) {
    const type = typeOf(element)
    const reconciled = type === undefined ? child : reconcileNode(child, type)
    if (reconciled === child) continue
    out ??= new Map(children.nodes)
    out.set(element, reconciled)
  }
  return out === undefined ? node : { member: node.member, children: new FieldSet(out) }
}

function fieldType(map: MapAtom, name: string): TypeRef | undefined {
  return map.fields.get(name)?.type ?? map.items
}

/** Whether a map has only deduced members, so that no relationship in it can change. */
function isDeducedMap(map: MapAtom): boolean {
  if (map.fields.size > 0 || map.items === undefined) return false
  return map.items.name === undefined ? map.items.atom.scalar === 'untyped' : map.items.name === deducedName
}
