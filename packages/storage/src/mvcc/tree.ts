/**
 * A persistent ordered map from keys to entries: a copy-on-write B+tree with subtree sizes, so that counting and paging cost
 * O(log n).
 *
 * `freeze()` returns the current state as a pointer. Between two freezes the tree modifies its own nodes in place, so a thousand
 * writes between two snapshots copy every touched node once, not a thousand times.
 *
 *     a: set x, set y, freeze -> s1      nodes: [x y]            s1 -> [x y]
 *     b: set z                           nodes: [x y z]          s1 -> [x y]   (copied once)
 *     c: delete x                        nodes: [y z]            s1 -> [x y]   (changed in place)
 */
import type { Entry } from '../interfaces.ts'
import { endOfPrefix, type KeyLess, lessByCodePoint, lessByCodeUnit, needsCodePointOrder } from '../keys.ts'

/** An immutable snapshot of a tree; create a {@link Tree} from it to read it. */
export interface TreeSnapshot {
  readonly root: TreeNode | undefined
  readonly less: KeyLess
}

interface Leaf {
  readonly kind: 'leaf'
  /** Token of the tree that may modify the node in place. */
  readonly owner: object
  readonly entries: Entry[]
}

interface Branch {
  readonly kind: 'branch'
  readonly owner: object
  size: number
  /** Separators: for each child but the first, a value at most its smallest key and above every key of the previous child. */
  readonly separators: string[]
  readonly children: TreeNode[]
}

type TreeNode = Leaf | Branch

/** Maximum number of entries of a leaf, and of children of a branch. */
const maxNodeSize = 32
/** A node below this size is merged with a neighbor if the result fits into `maxMergedSize`. */
const minNodeSize = 8
const maxMergedSize = 24

export class Tree {
  #root: TreeNode | undefined
  #less: KeyLess
  #owner: object = {}
  /** The new right node; set by an insertion that split a node. */
  #split: TreeNode | undefined
  #splitSeparator = ''

  constructor(state: TreeSnapshot = empty) {
    this.#root = state.root
    this.#less = state.less
  }

  get size(): number {
    return this.#root === undefined ? 0 : sizeOf(this.#root)
  }

  /** A snapshot of the current state. */
  freeze(): TreeSnapshot {
    this.#owner = {}
    return { root: this.#root, less: this.#less }
  }

  get(key: string): Entry | undefined {
    let node = this.#root
    if (node === undefined) return undefined
    while (node.kind === 'branch') node = node.children[childFor(node, key, this.#less)]!
    const entry = node.entries[lowerBound(node.entries, key, this.#less)]
    return entry !== undefined && entry.key === key ? entry : undefined
  }

  /** Adds or replaces the entry of a key. */
  set(entry: Entry): void {
    if (this.#less === lessByCodeUnit && needsCodePointOrder(entry.key)) this.#less = lessByCodePoint
    if (this.#root === undefined) {
      this.#root = { kind: 'leaf', owner: this.#owner, entries: [entry] }
      return
    }
    const root = this.#insert(this.#root, entry)
    const split = this.#takeSplit()
    this.#root =
      split === undefined
        ? root
        : {
            kind: 'branch',
            owner: this.#owner,
            size: sizeOf(root) + sizeOf(split),
            separators: ['', this.#splitSeparator],
            children: [root, split],
          }
  }

  /** Removes the entry of this key, if any. */
  delete(key: string): void {
    if (this.#root === undefined || this.get(key) === undefined) return
    let root = this.#remove(this.#root, key)
    while (root.kind === 'branch' && root.children.length === 1) root = root.children[0]!
    this.#root = sizeOf(root) === 0 ? undefined : root
  }

  /** Number of keys that sort before `key`, or before and including it. */
  rank(key: string, including: 'excluding' | 'including' = 'excluding'): number {
    const less = needsCodePointOrder(key) ? lessByCodePoint : this.#less
    let node = this.#root
    if (node === undefined) return 0
    let rank = 0
    while (node.kind === 'branch') {
      const at = childFor(node, key, less)
      for (let left = 0; left < at; left++) rank += sizeOf(node.children[left]!)
      node = node.children[at]!
    }
    const at = lowerBound(node.entries, key, less)
    return rank + at + (including === 'including' && node.entries[at]?.key === key ? 1 : 0)
  }

  /** The ranks of the keys that begin with a prefix: the first, and the one after the last. */
  range(prefix: string): { readonly at: number; readonly end: number } {
    return { at: this.rank(prefix), end: this.rank(endOfPrefix(prefix)) }
  }

  /** The entries of the ranks `from` (inclusive) to `to` (exclusive), in key order. */
  slice(from: number, to: number): Entry[] {
    const entries: Entry[] = []
    if (this.#root !== undefined && from < to) collect(this.#root, from, to, entries)
    return entries
  }

  #insert(node: TreeNode, entry: Entry): TreeNode {
    if (node.kind === 'leaf') return this.#insertIntoLeaf(this.#writable(node), entry)
    const own = this.#writable(node)
    const at = childFor(own, entry.key, this.#less)
    const sizeBefore = sizeOf(own.children[at]!)
    const child = this.#insert(own.children[at]!, entry)
    own.children[at] = child
    own.size += sizeOf(child) - sizeBefore
    const split = this.#takeSplit()
    if (split !== undefined) {
      own.size += sizeOf(split)
      own.children.splice(at + 1, 0, split)
      own.separators.splice(at + 1, 0, this.#splitSeparator)
      if (own.children.length > maxNodeSize) this.#splitBranch(own)
    }
    return own
  }

  #insertIntoLeaf(leaf: Leaf, entry: Entry): Leaf {
    const { entries } = leaf
    const at = lowerBound(entries, entry.key, this.#less)
    if (entries[at]?.key === entry.key) {
      entries[at] = entry
      return leaf
    }
    entries.splice(at, 0, entry)
    if (entries.length > maxNodeSize) {
      // For ascending insertions, keep the left leaf full.
      const half = at === entries.length - 1 ? at : entries.length >> 1
      const right: Leaf = { kind: 'leaf', owner: this.#owner, entries: entries.splice(half) }
      this.#split = right
      this.#splitSeparator = right.entries[0]!.key
    }
    return leaf
  }

  #splitBranch(branch: Branch): void {
    const half = branch.children.length >> 1
    const children = branch.children.splice(half)
    const separators = branch.separators.splice(half)
    const size = children.reduce((sum, child) => sum + sizeOf(child), 0)
    branch.size -= size
    this.#split = { kind: 'branch', owner: this.#owner, size, separators, children }
    this.#splitSeparator = separators[0]!
  }

  #takeSplit(): TreeNode | undefined {
    const split = this.#split
    this.#split = undefined
    return split
  }

  /** Requires that `key` exists. May leave an empty node, which the caller removes. */
  #remove(node: TreeNode, key: string): TreeNode {
    const own = this.#writable(node)
    if (own.kind === 'leaf') {
      own.entries.splice(lowerBound(own.entries, key, this.#less), 1)
      return own
    }
    const at = childFor(own, key, this.#less)
    const child = this.#remove(own.children[at]!, key)
    own.children[at] = child
    own.size--
    if (sizeOf(child) === 0) removeChild(own, at)
    else if (widthOf(child) < minNodeSize) this.#mergeWithNeighbor(own, at)
    return own
  }

  #mergeWithNeighbor(parent: Branch, at: number): void {
    const left = at > 0 && canMerge(parent, at - 1) ? at - 1 : at
    if (left + 1 >= parent.children.length || !canMerge(parent, left)) return
    const into = this.#writable(parent.children[left]!)
    const from = parent.children[left + 1]!
    if (into.kind === 'leaf' && from.kind === 'leaf') into.entries.push(...from.entries)
    if (into.kind === 'branch' && from.kind === 'branch') {
      into.children.push(...from.children)
      into.separators.push(parent.separators[left + 1]!, ...from.separators.slice(1))
      into.size += from.size
    }
    parent.children[left] = into
    removeChild(parent, left + 1)
  }

  #writable<N extends TreeNode>(node: N): N
  #writable(node: TreeNode): TreeNode {
    if (node.owner === this.#owner) return node
    return node.kind === 'leaf'
      ? { kind: 'leaf', owner: this.#owner, entries: node.entries.slice() }
      : {
          kind: 'branch',
          owner: this.#owner,
          size: node.size,
          separators: node.separators.slice(),
          children: node.children.slice(),
        }
  }
}

const empty: TreeSnapshot = { root: undefined, less: lessByCodeUnit }

function sizeOf(node: TreeNode): number {
  return node.kind === 'leaf' ? node.entries.length : node.size
}

function widthOf(node: TreeNode): number {
  return node.kind === 'leaf' ? node.entries.length : node.children.length
}

function canMerge(parent: Branch, left: number): boolean {
  const right = parent.children[left + 1]
  return right !== undefined && widthOf(parent.children[left]!) + widthOf(right) <= maxMergedSize
}

function removeChild(parent: Branch, at: number): void {
  parent.children.splice(at, 1)
  parent.separators.splice(at, 1)
}

/** Index of the child that contains `key` or would contain it. */
function childFor(branch: Branch, key: string, less: KeyLess): number {
  const { separators } = branch
  let low = 1
  let high = separators.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (less(key, separators[middle]!)) high = middle
    else low = middle + 1
  }
  return low - 1
}

/** Index of the first entry whose key does not sort before `key`. */
function lowerBound(entries: readonly Entry[], key: string, less: KeyLess): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (less(entries[middle]!.key, key)) low = middle + 1
    else high = middle
  }
  return low
}

function collect(node: TreeNode, from: number, to: number, into: Entry[]): void {
  if (node.kind === 'leaf') {
    const end = Math.min(to, node.entries.length)
    for (let at = Math.max(from, 0); at < end; at++) into.push(node.entries[at]!)
    return
  }
  let start = 0
  for (const child of node.children) {
    if (start >= to) return
    const end = start + sizeOf(child)
    if (end > from) collect(child, from - start, to - start, into)
    start = end
  }
}
