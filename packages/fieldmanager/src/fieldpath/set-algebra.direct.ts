// Derived from set-algebra.ts by `npm run direct`: do not edit.

import type { PathElement } from './element.ts'
import { nodeLike, nodesBefore, noNodes, type PathNode, type PathTree } from './set-algebra.ts'

/**
 * Paths of a set that are not in another one. A path stays when only its parent is in the other.
 *
 * @param recursive Members of `other` also remove everything below them.
 */
export function difference<T extends PathTree<T>>(set: T, other: T, recursive = false): T {
  if (set === other) return set.withNodes(noNodes)
  if (other.nodes.size === 0 || set.nodes.size === 0) return set
  // When most nodes are removed, copying the remaining ones is faster than deleting from a copy.
  return other.nodes.size > set.nodes.size / 2 ? copyRest(set, other, recursive) : deleteMatches(set, other, recursive)
}

function copyRest<T extends PathTree<T>>(set: T, other: T, recursive: boolean): T {
  let out: Map<PathElement, PathNode<T>> | undefined

  for (const [element, node] of set.nodes) {
    const match = other.nodes.get(element)
    const kept = match === undefined ? node : nodeDifference(node, match, recursive)
    if (kept !== node) out ??= nodesBefore(set.nodes, element)
    if (kept !== undefined) out?.set(element, kept)
  }
  return out === undefined ? set : set.withNodes(out)
}

function deleteMatches<T extends PathTree<T>>(set: T, other: T, recursive: boolean): T {
  let out: Map<PathElement, PathNode<T>> | undefined

  for (const [element, match] of other.nodes) {
    const node = set.nodes.get(element)
    if (node === undefined) continue
    const kept = nodeDifference(node, match, recursive)
    if (kept === node) continue
    out ??= new Map(set.nodes)
    if (kept === undefined) out.delete(element)
    else out.set(element, kept)
  }
  return out === undefined ? set : set.withNodes(out)
}

function nodeDifference<T extends PathTree<T>>(
  node: PathNode<T>,
  match: PathNode<T>,
  recursive: boolean,
): PathNode<T> | undefined {
  if (match.member && recursive) return undefined
  let { children } = node
  if (children !== undefined && match.children !== undefined) children = difference(children, match.children, recursive)
  return nodeLike(node, node.member && !match.member, children)
}

/** Paths that are in both sets. */
export function intersection<T extends PathTree<T>>(set: T, other: T): T {
  if (set === other) return set
  const out = new Map<PathElement, PathNode<T>>()
  let same = true

  for (const [element, node] of set.nodes) {
    const match = other.nodes.get(element)
    const kept = match === undefined || match === node ? match : nodeIntersection(node, match)
    if (kept !== node) same = false
    if (kept !== undefined) out.set(element, kept)
  }
  return same ? set : set.withNodes(out)
}

function nodeIntersection<T extends PathTree<T>>(node: PathNode<T>, match: PathNode<T>): PathNode<T> | undefined {
  const both = node.children !== undefined && match.children !== undefined
  const children = both ? intersection(node.children, match.children) : undefined
  return nodeLike(node, node.member && match.member, children)
}
