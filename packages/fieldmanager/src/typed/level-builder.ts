import type { PathElement } from '../fieldpath/element.ts'
import { type FieldNode, FieldSet } from '../fieldpath/field-set.ts'

/**
 * Collects one level of a field set, and returns the same level of a similar set when it is equal. An object mostly has the same fields as
 * the previous object of its kind. Then no map is built, and the reused set keeps its cached forms. Other levels share equal nodes with the
 * similar set.
 *
 *     like: a b c     added: b a   -> no map yet, two kept
 *                     added: d     -> a map of b a d
 */
export class LevelBuilder {
  readonly #like: FieldSet | undefined
  /** While `#nodes` is undefined: elements that were added, each with the node of `like`. */
  #kept: PathElement[] | undefined
  #nodes: Map<PathElement, FieldNode> | undefined
  /** Whether a node was added that `like` does not have. */
  #differs = false

  constructor(like: FieldSet | undefined) {
    this.#like = like
    this.#kept = undefined
    this.#nodes = like !== undefined && like.nodes.size > manyElements ? new Map() : undefined
  }

  /** The part of the similar set below an element. */
  below(element: PathElement): FieldSet | undefined {
    return this.#like === undefined ? undefined : this.#like.nodes.get(element)?.children
  }

  /** Whether an element was added. Call this before `add` when elements may repeat. */
  has(element: PathElement): boolean {
    const kept = this.#kept
    if (this.#nodes === undefined) {
      if (kept === undefined || (kept.length <= fewElements && !kept.includes(element))) return false
      this.#nodes = this.#takeKept()
    }
    return this.#nodes.has(element)
  }

  /** Adds a node, or replaces the node of an element for which `has` returned true. */
  add(element: PathElement, node: FieldNode): void {
    const known = this.#like === undefined ? undefined : this.#like.nodes.get(element)
    const isKnown = known !== undefined && (known === node || (known.member === node.member && known.children === node.children))
    if (!isKnown) this.#differs = true
    if (this.#nodes === undefined) {
      if (isKnown) {
        if (this.#kept === undefined) this.#kept = [element]
        else this.#kept.push(element)
        return
      }
      this.#nodes = this.#takeKept()
    }
    this.#nodes.set(element, isKnown ? known : node)
  }

  /** `undefined` when nothing was added. */
  build(): FieldSet | undefined {
    const size = this.#nodes?.size ?? this.#kept?.length ?? 0
    if (size === 0) return undefined
    if (!this.#differs && size === this.#like?.nodes.size) return this.#like
    this.#nodes ??= this.#takeKept()
    return new FieldSet(this.#nodes)
  }

  #takeKept(): Map<PathElement, FieldNode> {
    const nodes = new Map<PathElement, FieldNode>()
    for (const element of this.#kept ?? []) nodes.set(element, this.#like?.nodes.get(element) as FieldNode)
    return nodes
  }
}

/** Up to this number, repeated elements are found without a map. */
const fewElements = 16

/** Above this number, the map is filled from the start, because filling it later would take too long in one step. */
const manyElements = 1000
