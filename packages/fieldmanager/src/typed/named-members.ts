import type { PathElement } from '../fieldpath/element.ts'
import { type FieldNode, type FieldSet, setOf } from '../fieldpath/field-set.ts'
import type { TypeRef } from './types.ts'
import { memberType } from './types.ts'

/**
 * The set with every struct field on the way to a path made a path of its own.
 *
 * Sets leave such fields out (nobody owns `spec` as such), but removing what is no longer owned has to see them.
 */
export function withNamedMembers(set: FieldSet, type: TypeRef | undefined): FieldSet {
  if (set.nodes.size === 0) return set
  const atom = type?.atom
  const nodes = new Map<PathElement, FieldNode>()
  for (const [element, node] of set.nodes) {
    if (node.children === undefined) {
      nodes.set(element, node)
      continue
    }
    const name = element[0] === 'f' ? element.slice(2) : undefined
    const map = name === undefined ? undefined : atom?.map
    const below =
      map !== undefined && name !== undefined ? memberType(map, name) : element[0] === 'k' ? atom?.list?.items : undefined
    const member = node.member || (map !== undefined && name !== undefined && map.fields.has(name))
    nodes.set(element, { member, children: withNamedMembers(node.children, below) })
  }
  return setOf(nodes)
}
