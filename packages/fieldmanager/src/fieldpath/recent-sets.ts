import type { FieldSet } from './field-set.ts'

/** Sets that were seen lately, to be found again by what is in them. Objects of a kind mostly have the same few. */
export class RecentSets {
  readonly #sets = new Map<number, FieldSet>()
  #nodes = 0
  #characters = 0

  /** Number of sets. */
  get size(): number {
    return this.#sets.size
  }

  /** Looks for an equal set that was seen before; remembers this one where there is none, unless it is large. */
  find(set: FieldSet): Found {
    const found = new Fingerprint(set)
    const { print, nodes, characters } = found
    if (nodes > maxNodes || characters > maxCharacters) return found
    const known = this.#sets.get(print)
    if (known?.equals(set)) {
      found.twin = known
      return found
    }
    this.#nodes += nodes
    this.#characters += characters
    if (this.#sets.size >= maxSets || this.#nodes > maxNodesOfAll || this.#characters > maxCharactersOfAll) {
      this.#sets.clear()
      this.#nodes = nodes
      this.#characters = characters
    }
    this.#sets.set(print, set)
    return found
  }
}

export interface Found {
  /** The equal set. */
  readonly twin: FieldSet | undefined
  /** How many nodes the set has; of large ones, at least how many. */
  readonly nodes: number
}

const maxSets = 1024
const maxNodes = 4096
const maxNodesOfAll = 65_536
/** Of path elements: an element holds the name of a key, or a value, of any length. */
const maxCharacters = 65_536
const maxCharactersOfAll = 2 * 1024 * 1024

/** The same for equal sets, whatever the order of their nodes. */
class Fingerprint implements Found {
  readonly print: number
  twin: FieldSet | undefined
  nodes = 0
  /** Of all path elements. */
  characters = 0

  constructor(set: FieldSet) {
    this.twin = undefined
    this.print = this.#of(set)
  }

  #of(set: FieldSet): number {
    let print = 0
    this.nodes += set.nodes.size
    if (this.nodes > maxNodes) return print
    for (const [element, { member, children }] of set.nodes) {
      const { length } = element
      this.characters += length
      let node = Math.imul(length + 256 * element.charCodeAt(length - 1) + 65_536 * element.charCodeAt(length >> 1), 0x9e3779b1)
      if (member) node = ~node
      if (children !== undefined) node = Math.imul(node ^ this.#of(children), 0x85ebca6b)
      print = (print + (node ^ (node >>> 15))) | 0
    }
    return print
  }
}
