import type { Work } from '@krmkit/base/work'
import type { PathElement } from '../fieldpath/element.ts'
import { type FieldNode, FieldSet } from '../fieldpath/field-set.ts'
import { memberType, type TypeRef } from './types.ts'

/** Number of elements visited between two yields. */
const stepSize = 64

/**
 * Adds every struct field along the paths of a set as a member.
 *
 * Field sets omit such fields (`spec` itself has no owner), but pruning needs them.
 */
export function* namedFieldsAsMembers(set: FieldSet, type: TypeRef | undefined): Work<FieldSet> {
  const atom = type?.atom
  let nodes: Map<PathElement, FieldNode> | undefined
  let visited = 0
  for (const [element, node] of set.nodes) {
    if (++visited % stepSize === 0) yield
    if (node.children === undefined) continue
    const name = element[0] === 'f' ? element.slice(2) : undefined
    const map = name === undefined ? undefined : atom?.map
    const below =
      map !== undefined && name !== undefined ? memberType(map, name) : element[0] === 'k' ? atom?.list?.items : undefined
    const member = node.member || (map !== undefined && name !== undefined && map.fields.has(name))
    const children = yield* namedFieldsAsMembers(node.children, below)
    if (member === node.member && children === node.children) continue
    nodes ??= new Map(set.nodes)
    nodes.set(element, { member, children })
  }
  return nodes === undefined ? set : new FieldSet(nodes)
}
