import type { Work } from '@krmkit/base/work'
import type { PathElement } from './element.ts'

/** Difference and intersection of sets of paths; `FieldSet` has them as methods. */

/** The interface of a set of paths: a tree that shares unchanged parts with its operands. */
export interface PathTree<T> {
  readonly nodes: PathNodes<T>
  /** A tree of these nodes; the shared empty tree when there are none. */
  withNodes(nodes: PathNodes<T>): T
}

export interface PathNode<T> {
  readonly member: boolean
  readonly children: T | undefined
}

type PathNodes<T> = ReadonlyMap<PathElement, PathNode<T>>

/** The shared node of a path with nothing below it. */
export const leaf: PathNode<never> = Object.freeze({ member: true, children: undefined })

/** Number of elements visited between two yields. */
const stepSize = 64

/**
 * Paths of a set that are not in another one. A path stays when only its parent is in the other.
 *
 * @param recursive Members of `other` also remove everything below them.
 */
export function* difference<T extends PathTree<T>>(set: T, other: T, recursive = false): Work<T> {
  if (set === other) return set.withNodes(noNodes)
  if (other.nodes.size === 0 || set.nodes.size === 0) return set
  // When most nodes are removed, copying the remaining ones is faster than deleting from a copy.
  return other.nodes.size > set.nodes.size / 2
    ? yield* copyRest(set, other, recursive)
    : yield* deleteMatches(set, other, recursive)
}

export const noNodes: PathNodes<never> = new Map()

function* copyRest<T extends PathTree<T>>(set: T, other: T, recursive: boolean): Work<T> {
  let out: Map<PathElement, PathNode<T>> | undefined
  let visited = 0
  for (const [element, node] of set.nodes) {
    const match = other.nodes.get(element)
    const kept = match === undefined ? node : yield* nodeDifference(node, match, recursive)
    if (kept !== node) out ??= nodesBefore(set.nodes, element)
    if (kept !== undefined) out?.set(element, kept)
    if (++visited % stepSize === 0) yield
  }
  return out === undefined ? set : set.withNodes(out)
}

export function nodesBefore<T>(nodes: PathNodes<T>, end: PathElement): Map<PathElement, PathNode<T>> {
  const out = new Map<PathElement, PathNode<T>>()
  for (const [element, node] of nodes) {
    if (element === end) break
    out.set(element, node)
  }
  return out
}

function* deleteMatches<T extends PathTree<T>>(set: T, other: T, recursive: boolean): Work<T> {
  let out: Map<PathElement, PathNode<T>> | undefined
  let visited = 0
  for (const [element, match] of other.nodes) {
    if (++visited % stepSize === 0) yield
    const node = set.nodes.get(element)
    if (node === undefined) continue
    const kept = yield* nodeDifference(node, match, recursive)
    if (kept === node) continue
    out ??= new Map(set.nodes)
    if (kept === undefined) out.delete(element)
    else out.set(element, kept)
  }
  return out === undefined ? set : set.withNodes(out)
}

function* nodeDifference<T extends PathTree<T>>(
  node: PathNode<T>,
  match: PathNode<T>,
  recursive: boolean,
): Work<PathNode<T> | undefined> {
  if (match.member && recursive) return undefined
  let { children } = node
  if (children !== undefined && match.children !== undefined) children = yield* difference(children, match.children, recursive)
  return nodeLike(node, node.member && !match.member, children)
}

/** Paths that are in both sets. */
export function* intersection<T extends PathTree<T>>(set: T, other: T): Work<T> {
  if (set === other) return set
  const out = new Map<PathElement, PathNode<T>>()
  let same = true
  let visited = 0
  for (const [element, node] of set.nodes) {
    const match = other.nodes.get(element)
    const kept = match === undefined || match === node ? match : yield* nodeIntersection(node, match)
    if (kept !== node) same = false
    if (kept !== undefined) out.set(element, kept)
    if (++visited % stepSize === 0) yield
  }
  return same ? set : set.withNodes(out)
}

function* nodeIntersection<T extends PathTree<T>>(node: PathNode<T>, match: PathNode<T>): Work<PathNode<T> | undefined> {
  const both = node.children !== undefined && match.children !== undefined
  const children = both ? yield* intersection(node.children, match.children) : undefined
  return nodeLike(node, node.member && match.member, children)
}

/** The node itself when it equals the result; undefined when nothing is left. */
export function nodeLike<T extends PathTree<T>>(
  node: PathNode<T>,
  member: boolean,
  children: T | undefined,
): PathNode<T> | undefined {
  const left = children?.nodes.size === 0 ? undefined : children
  if (member === node.member && left === node.children) return node
  if (left !== undefined) return { member, children: left }
  return member ? leaf : undefined
}
