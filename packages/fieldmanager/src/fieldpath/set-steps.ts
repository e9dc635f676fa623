import type { Work } from '@krmkit/meta/work'
import type { PathElement } from './element.ts'
import { emptySet, type FieldNode, type FieldSet, leaf, setOf } from './field-set.ts'

/** Operations on large sets, as generators that can be interrupted at each yield. */

/** Elements visited between two yields. */
const stepSize = 64

/** As `FieldSet.difference`. */
export function* differenceSteps(set: FieldSet, other: FieldSet): Work<FieldSet> {
  if (set === other) return emptySet
  if (other.nodes.size < stepSize && !hasChildren(other)) return set.difference(other)
  return yield* keptSteps(set, other, withoutMatchSteps)
}

/** As `FieldSet.intersection`. */
export function* intersectionSteps(set: FieldSet, other: FieldSet): Work<FieldSet> {
  if (set === other) return set
  if (set.nodes.size < stepSize && !hasChildren(set)) return set.intersection(other)
  return yield* keptSteps(set, other, commonSteps)
}

type KeepSteps = (node: FieldNode, match: FieldNode | undefined) => Work<FieldNode | undefined>

/** The set of what `keep` returns for each node; the set itself when nothing changes. */
function* keptSteps(set: FieldSet, other: FieldSet, keep: KeepSteps): Work<FieldSet> {
  const out = new Map<PathElement, FieldNode>()
  let same = true
  let visited = 0
  for (const [element, node] of set.nodes) {
    if (++visited % stepSize === 0) yield
    const kept = yield* keep(node, other.nodes.get(element))
    if (kept !== node) same = false
    if (kept !== undefined) out.set(element, kept)
  }
  return same ? set : setOf(out)
}

function* withoutMatchSteps(node: FieldNode, match: FieldNode | undefined): ReturnType<KeepSteps> {
  if (match === undefined) return node
  const children =
    node.children === undefined || match.children === undefined
      ? node.children
      : yield* differenceSteps(node.children, match.children)
  return nodeLike(node, node.member && !match.member, children)
}

function* commonSteps(node: FieldNode, match: FieldNode | undefined): ReturnType<KeepSteps> {
  if (match === undefined || match === node) return match
  const children =
    node.children === undefined || match.children === undefined
      ? undefined
      : yield* intersectionSteps(node.children, match.children)
  return nodeLike(node, node.member && match.member, children)
}

/** The node itself when it equals the result; undefined when nothing is left. */
function nodeLike(node: FieldNode, member: boolean, children: FieldSet | undefined): FieldNode | undefined {
  const left = children?.empty ? undefined : children
  if (member === node.member && left === node.children) return node
  if (left !== undefined) return { member, children: left }
  return member ? leaf : undefined
}

/** False for leaves alone, such as the fields of an item. */
function hasChildren(set: FieldSet): boolean {
  for (const { children } of set.nodes.values()) if (children !== undefined) return true
  return false
}
