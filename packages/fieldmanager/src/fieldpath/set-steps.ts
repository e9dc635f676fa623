import type { PathElement } from './element.ts'
import { emptySet, type FieldNode, type FieldSet, leaf, setOf } from './field-set.ts'

/** Operations on large sets, as generators that can be interrupted at each yield. */

/** Elements visited between two yields. */
const stepSize = 64

/** As `FieldSet.difference`. */
export function* differenceSteps(set: FieldSet, other: FieldSet): Generator<unknown, FieldSet> {
  if (set === other) return emptySet
  if (other.nodes.size < stepSize && !hasChildren(other)) return set.difference(other)
  const out = new Map<PathElement, FieldNode>()
  let same = true
  let visited = 0
  for (const [element, node] of set.nodes) {
    if (++visited % stepSize === 0) yield
    const match = other.nodes.get(element)
    const kept = match === undefined ? node : yield* nodeDifferenceSteps(node, match)
    if (kept !== node) same = false
    if (kept !== undefined) out.set(element, kept)
  }
  return same ? set : setOf(out)
}

function* nodeDifferenceSteps(node: FieldNode, match: FieldNode): Generator<unknown, FieldNode | undefined> {
  const member = node.member && !match.member
  const children =
    node.children === undefined || match.children === undefined
      ? node.children
      : yield* differenceSteps(node.children, match.children)
  return nodeLike(node, member, children)
}

/** As `FieldSet.intersection`. */
export function* intersectionSteps(set: FieldSet, other: FieldSet): Generator<unknown, FieldSet> {
  if (set === other) return set
  if (set.nodes.size < stepSize && !hasChildren(set)) return set.intersection(other)
  const out = new Map<PathElement, FieldNode>()
  let same = true
  let visited = 0
  for (const [element, node] of set.nodes) {
    if (++visited % stepSize === 0) yield
    const match = other.nodes.get(element)
    const kept = match === undefined ? undefined : yield* commonNodeSteps(node, match)
    if (kept !== node) same = false
    if (kept !== undefined) out.set(element, kept)
  }
  return same ? set : setOf(out)
}

function* commonNodeSteps(a: FieldNode, b: FieldNode): Generator<unknown, FieldNode | undefined> {
  if (a === b) return a
  const children =
    a.children === undefined || b.children === undefined ? undefined : yield* intersectionSteps(a.children, b.children)
  return nodeLike(a, a.member && b.member, children)
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
