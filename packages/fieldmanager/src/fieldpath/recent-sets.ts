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

  /** An equal set that was seen before; else this one is remembered, unless it is large. */
  twin(set: FieldSet): FieldSet | undefined {
    const { print, nodes, characters } = new Fingerprint(set)
    if (nodes > maxNodes || characters > maxCharacters) return undefined
    const known = this.#sets.get(print)
    if (known?.equals(set)) return known
    this.#nodes += nodes
    this.#characters += characters
    if (this.#sets.size >= maxSets || this.#nodes > maxNodesOfAll || this.#characters > maxCharactersOfAll) {
      this.#sets.clear()
      this.#nodes = nodes
      this.#characters = characters
    }
    this.#sets.set(print, set)
    return undefined
  }
}

const maxSets = 1024
const maxNodes = 4096
const maxNodesOfAll = 65_536
/** Of path elements: an element holds the name of a key, or a value, of any length. */
const maxCharacters = 65_536
const maxCharactersOfAll = 2 * 1024 * 1024

/** The same for equal sets, whatever the order of their nodes. */
class Fingerprint {
  readonly print: number
  nodes = 0
  /** Of all path elements. */
  characters = 0

  constructor(set: FieldSet) {
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
