import type { FieldSet } from './field-set.ts'

/** A bounded cache of recently seen sets, looked up by content. Objects of one kind mostly share a few sets. */
export class FieldSetCache {
  readonly #sets = new Map<number, FieldSet>()
  #nodes = 0
  #characters = 0

  /** Number of cached sets. */
  get size(): number {
    return this.#sets.size
  }

  /** Looks up an equal set. When there is none, stores this set, unless it is large. */
  find(set: FieldSet): CacheLookup {
    const found = new Fingerprint(set)
    const { hash, nodes, characters } = found
    if (nodes > maxNodes || characters > maxCharacters) return found
    const known = this.#sets.get(hash)
    if (known?.equals(set)) {
      found.equal = known
      return found
    }
    this.#nodes += nodes
    this.#characters += characters
    if (this.#sets.size >= maxSets || this.#nodes > maxNodesOfAll || this.#characters > maxCharactersOfAll) {
      this.#sets.clear()
      this.#nodes = nodes
      this.#characters = characters
    }
    this.#sets.set(hash, set)
    return found
  }
}

export interface CacheLookup {
  /** The equal cached set. */
  readonly equal: FieldSet | undefined
  /** Number of nodes of the set; for large sets, a lower bound. */
  readonly nodes: number
}

const maxSets = 1024
const maxNodes = 4096
const maxNodesOfAll = 65_536
/** Maximum total length of the path elements of one set, because keys and values in them can have any length. */
const maxCharacters = 65_536
const maxCharactersOfAll = 2 * 1024 * 1024

/** A hash that does not depend on the order of nodes. */
class Fingerprint implements CacheLookup {
  readonly hash: number
  equal: FieldSet | undefined
  nodes = 0
  /** Total length of all path elements. */
  characters = 0

  constructor(set: FieldSet) {
    this.equal = undefined
    this.hash = this.#hashOf(set)
  }

  #hashOf(set: FieldSet): number {
    let hash = 0
    this.nodes += set.nodes.size
    if (this.nodes > maxNodes) return hash
    for (const [element, { member, children }] of set.nodes) {
      const { length } = element
      this.characters += length
      let node = Math.imul(length + 256 * element.charCodeAt(length - 1) + 65_536 * element.charCodeAt(length >> 1), 0x9e3779b1)
      if (member) node = ~node
      if (children !== undefined) node = Math.imul(node ^ this.#hashOf(children), 0x85ebca6b)
      hash = (hash + (node ^ (node >>> 15))) | 0
    }
    return hash
  }
}
