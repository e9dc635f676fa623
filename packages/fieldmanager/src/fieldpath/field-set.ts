import type { JsonObject } from '@krmkit/meta'
import { compareElements, type FieldPath, type PathElement } from './element.ts'
import { formatPath } from './format-path.ts'
import { difference, intersection } from './set-algebra.direct.ts'
import { leaf } from './set-algebra.ts'
import { sortElements } from './sort-elements.direct.ts'

/** The content of a set at one element: the path itself, paths below it, or both. */
export interface FieldNode {
  readonly member: boolean
  readonly children: FieldSet | undefined
}

export { leaf } from './set-algebra.ts'

/**
 * An immutable set of paths, stored as a tree.
 *
 * Operations return an operand when it equals the result, so callers detect "unchanged" by identity. Nodes are never empty: each
 * is a member or has children.
 *
 * @example
 * ```ts
 * import { FieldSet } from '@krmkit/fieldmanager'
 *
 * const owned = FieldSet.of(['f:spec', 'f:replicas'], ['f:spec', 'f:paused'])
 * owned.difference(FieldSet.of(['f:spec', 'f:paused'])).toString() // '.spec.replicas'
 * ```
 */
export class FieldSet {
  /** Unsorted. */
  readonly nodes: ReadonlyMap<PathElement, FieldNode>
  /** Cached FieldsV1 form, frozen. */
  encoded: JsonObject | undefined
  /** Cached FieldsV1 form, with `.`, for use below a path that is itself a member; frozen. */
  encodedBelowMember: JsonObject | undefined
  /** The type against which the set was last found up to date; see `reconcileFieldSet`. */
  reconciledWith: object | undefined

  constructor(nodes: ReadonlyMap<PathElement, FieldNode>) {
    this.nodes = nodes
    this.encoded = undefined
    this.encodedBelowMember = undefined
    this.reconciledWith = undefined
  }

  static of(...paths: readonly FieldPath[]): FieldSet {
    const builder = new FieldSetBuilder()
    for (const path of paths) builder.insert(path, path.length)
    return builder.build()
  }

  get empty(): boolean {
    return this.nodes.size === 0
  }

  /** Number of paths. */
  get size(): number {
    let size = 0
    for (const node of this.nodes.values()) size += (node.member ? 1 : 0) + (node.children === undefined ? 0 : node.children.size)
    return size
  }

  has(path: FieldPath): boolean {
    let set: FieldSet | undefined = this
    for (let i = 0; i < path.length; i++) {
      const node: FieldNode | undefined = set.nodes.get(path[i] as PathElement)
      if (node === undefined) return false
      if (i === path.length - 1) return node.member
      if (node.children === undefined) return false
      set = node.children
    }
    return false
  }

  /** The paths below an element, without that element; empty when there are none. */
  withPrefix(element: PathElement): FieldSet {
    return this.nodes.get(element)?.children ?? emptySet
  }

  equals(other: FieldSet): boolean {
    if (this === other) return true
    if (this.nodes.size !== other.nodes.size) return false
    for (const [element, node] of this.nodes) {
      const match = other.nodes.get(element)
      if (node === match) continue
      if (match === undefined || match.member !== node.member) return false
      if (node.children === undefined || match.children === undefined) {
        if (node.children !== match.children) return false
      } else if (!node.children.equals(match.children)) return false
    }
    return true
  }

  /** Whether every path of this set is in `other`. */
  isSubsetOf(other: FieldSet): boolean {
    if (this === other) return true
    if (this.nodes.size > other.nodes.size) return false
    for (const [element, node] of this.nodes) {
      const match = other.nodes.get(element)
      if (match === undefined || (node.member && !match.member)) return false
      if (node.children === undefined) continue
      if (match.children === undefined || !node.children.isSubsetOf(match.children)) return false
    }
    return true
  }

  union(other: FieldSet): FieldSet {
    if (this === other || other.nodes.size === 0) return this
    if (this.nodes.size === 0) return other
    let out: Map<PathElement, FieldNode> | undefined
    for (const [element, node] of other.nodes) {
      const own = this.nodes.get(element)
      const joined = own === undefined ? node : uniteNodes(own, node)
      if (joined !== own) {
        out ??= new Map(this.nodes)
        out.set(element, joined)
      }
    }
    return out === undefined ? this : new FieldSet(out)
  }

  intersection(other: FieldSet): FieldSet {
    return intersection<FieldSet>(this, other)
  }

  /** Paths of this set that are not in `other`. A path stays when only its parent is in `other`. */
  difference(other: FieldSet): FieldSet {
    return difference<FieldSet>(this, other)
  }

  /** Like `difference`, but a member of `other` also removes everything below it. */
  recursiveDifference(other: FieldSet): FieldSet {
    return difference<FieldSet>(this, other, true)
  }

  /** Members with nothing below them. */
  leaves(): FieldSet {
    const out = new Map<PathElement, FieldNode>()
    let same = true
    for (const [element, node] of this.nodes) {
      if (node.children === undefined) {
        out.set(element, node)
        continue
      }
      const children = node.children.leaves()
      if (!node.member && children === node.children) out.set(element, node)
      else {
        same = false
        out.set(element, { member: false, children })
      }
    }
    return same ? this : setOf(out)
  }

  /**
   * Calls `visit` for every path: at each level the members in order, then what is below them. Stops when `visit` returns false.
   */
  iterate(visit: (path: FieldPath) => unknown): void {
    iterateFrom(this, [], visit)
  }

  /** The first `limit` paths, in the order of `iterate`; all by default. */
  paths(limit = Number.POSITIVE_INFINITY): FieldPath[] {
    const paths: FieldPath[] = []
    if (limit > 0) this.iterate((path) => paths.push(path) < limit)
    return paths
  }

  /** Top-level elements, sorted. */
  elements(): PathElement[] {
    return sortElements([...this.nodes.keys()])
  }

  /** A set of other nodes; the shared empty set when there are none. */
  withNodes(nodes: ReadonlyMap<PathElement, FieldNode>): FieldSet {
    return setOf(nodes)
  }

  /** One path per line. */
  toString(): string {
    return this.paths().map(formatPath).join('\n')
  }
}

/** The shared empty set. */
export const emptySet: FieldSet = new FieldSet(new Map())

/** Collects paths into a set; unusable after `build`. */
export class FieldSetBuilder {
  readonly #nodes = new Map<PathElement, FieldNode>()

  /** Adds the first `length` elements of `path`. Elements must be canonical. */
  insert(path: readonly PathElement[], length: number): void {
    let nodes = this.#nodes
    for (let i = 0; i < length; i++) {
      const element = path[i] as PathElement
      const node = nodes.get(element)
      if (i === length - 1) {
        if (node === undefined) nodes.set(element, leaf)
        else if (!node.member) nodes.set(element, { member: true, children: node.children })
      } else if (node?.children !== undefined) nodes = node.children.nodes as Map<PathElement, FieldNode>
      else {
        const below = new Map<PathElement, FieldNode>()
        nodes.set(element, { member: node !== undefined, children: new FieldSet(below) })
        nodes = below
      }
    }
  }

  /** Adds a subtree at the first `length` elements of `path`. */
  insertNode(path: readonly PathElement[], length: number, node: FieldNode): void {
    this.insert(path, length)
    let nodes = this.#nodes
    for (let i = 0; i < length - 1; i++) nodes = nodes.get(path[i] as PathElement)?.children?.nodes as Map<PathElement, FieldNode>
    const element = path[length - 1] as PathElement
    const own = nodes.get(element) as FieldNode
    nodes.set(element, own === leaf ? node : uniteNodes(own, node))
  }

  /** Adds every path of a set. */
  insertAll(set: FieldSet): void {
    for (const [element, node] of set.nodes) {
      const own = this.#nodes.get(element)
      this.#nodes.set(element, own === undefined ? node : uniteNodes(own, node))
    }
  }

  get empty(): boolean {
    return this.#nodes.size === 0
  }

  build(): FieldSet {
    return setOf(this.#nodes)
  }
}

/** A set of these nodes; the shared empty set when there are none. */
export function setOf(nodes: ReadonlyMap<PathElement, FieldNode>): FieldSet {
  return nodes.size === 0 ? emptySet : new FieldSet(nodes)
}

/**
 * Orders paths element by element, prefixes first.
 *
 * @example
 * ```ts
 * import { comparePaths } from '@krmkit/fieldmanager/fieldpath'
 *
 * const paths = [['f:spec', 'f:replicas'], ['f:spec'], ['f:data']]
 * paths.sort(comparePaths) // [['f:data'], ['f:spec'], ['f:spec', 'f:replicas']]
 * ```
 */
export function comparePaths(a: FieldPath, b: FieldPath): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const order = compareElements(a[i] as PathElement, b[i] as PathElement)
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** The union of two nodes of one element. */
export function uniteNodes(a: FieldNode, b: FieldNode): FieldNode {
  if (a === b) return a
  const member = a.member || b.member
  const children = a.children === undefined ? b.children : b.children === undefined ? a.children : a.children.union(b.children)
  if (member === a.member && children === a.children) return a
  return { member, children }
}

/** @returns false once `visit` has returned false. */
function iterateFrom(set: FieldSet, prefix: PathElement[], visit: (path: FieldPath) => unknown): boolean {
  const elements = set.elements()
  for (const element of elements) if (set.nodes.get(element)?.member && visit([...prefix, element]) === false) return false
  for (const element of elements) {
    const children = set.nodes.get(element)?.children
    if (children === undefined) continue
    prefix.push(element)
    const goesOn = iterateFrom(children, prefix, visit)
    prefix.pop()
    if (!goesOn) return false
  }
  return true
}
