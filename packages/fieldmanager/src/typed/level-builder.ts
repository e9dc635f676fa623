import type { PathElement } from '../fieldpath/element.ts'
import { type FieldNode, FieldSet } from '../fieldpath/field-set.ts'

type Entry = readonly [PathElement, FieldNode]

/**
 * Collects one level of a field set, and returns the same level of a similar set when it is equal. Objects of one kind mostly have the
 * fields of the one before, in the same order: then nothing is allocated, and the set keeps what is cached with it.
 *
 *     like: a b c     added: a b   -> no nodes yet, two kept
 *                     added: d     -> nodes a b d
 */
export class LevelBuilder {
  readonly #like: FieldSet | undefined
  #rest: Iterator<Entry> | undefined
  #next: Entry | undefined
  /** While `#nodes` is undefined: the first nodes of `like`, in its order, are those of this level. */
  #kept = 0
  #nodes: Map<PathElement, FieldNode> | undefined

  constructor(like: FieldSet | undefined) {
    this.#like = like
    if (like !== undefined) this.#start(like)
  }

  /** What the similar set has below an element. */
  below(element: PathElement): FieldSet | undefined {
    const next = this.#next
    return next !== undefined && next[0] === element ? next[1].children : this.#like?.nodes.get(element)?.children
  }

  has(element: PathElement): boolean {
    if (this.#nodes === undefined) {
      const next = this.#next
      if (this.#kept === 0 || (next !== undefined && next[0] === element)) return false
      this.#nodes = this.#takeKept()
    }
    return this.#nodes.has(element)
  }

  add(element: PathElement, node: FieldNode): void {
    if (this.#nodes === undefined) {
      const next = this.#next
      if (next !== undefined && next[0] === element && isSame(next[1], node)) {
        this.#kept++
        this.#step()
        return
      }
      this.#nodes = this.#takeKept()
    }
    this.#nodes.set(element, node)
  }

  /** `undefined` when nothing was added. */
  build(): FieldSet | undefined {
    if (this.#nodes === undefined && this.#kept > 0) {
      if (this.#kept === this.#like?.nodes.size) return this.#like
      this.#nodes = this.#takeKept()
    }
    return this.#nodes === undefined ? undefined : new FieldSet(this.#nodes)
  }

  #start({ nodes }: FieldSet): void {
    this.#rest = nodes.entries()
    this.#step()
  }

  #step(): void {
    const { value } = this.#rest?.next() ?? {}
    this.#next = value
  }

  #takeKept(): Map<PathElement, FieldNode> {
    const nodes = new Map<PathElement, FieldNode>()
    if (this.#kept === 0 || this.#like === undefined) return nodes
    for (const [element, node] of this.#like.nodes) {
      nodes.set(element, node)
      if (nodes.size === this.#kept) break
    }
    return nodes
  }
}

function isSame(a: FieldNode, b: FieldNode): boolean {
  return a === b || (a.member === b.member && a.children === b.children)
}
