import { NumberLiteral } from '../../json/syntax.ts'
import type { MappingYaml, ScalarYaml, SequenceYaml, YamlNode } from '../../yaml/nodes.ts'
import { keyName } from '../find-node.ts'

/** The members and items of a YAML document with the lines that they occupy, comments included. */

/** A member of a mapping or an item of a list. */
export interface SourceEntry {
  /** Absent for items and for the root. */
  readonly key?: string
  readonly value: unknown
  readonly node: YamlNode
  /** Line and column of the key or of the dash. */
  readonly line: number
  readonly column: number
  /** First line, with the comments that precede the entry; line after the last. */
  readonly from: number
  to: number
  /** Members or items of a block collection; undefined for scalars, flow collections and aliases. */
  children?: readonly SourceEntry[]
  parent?: SourceEntry
}

export interface SourceDocument {
  readonly lines: readonly string[]
  readonly root: SourceEntry
  /** The offset of a line. */
  readonly offsetOf: (line: number) => number
}

/** Reads the entries of a document. */
export function readSource(text: string, root: YamlNode, value: unknown): SourceDocument {
  return new SourceReader(text).document(root, value)
}

const commentOrBlank = /^\s*(?:#|$)/

class SourceReader {
  readonly #text: string
  readonly #lines: readonly string[]
  readonly #starts: number[] = [0]

  constructor(text: string) {
    this.#text = text
    this.#lines = text.split('\n')
    for (const line of this.#lines) this.#starts.push((this.#starts.at(-1) as number) + line.length + 1)
  }

  document(node: YamlNode, value: unknown): SourceDocument {
    const line = this.#lineOf(node.start)
    let to = this.#lines.length
    while (to > line + 1 && /^(?:#|\s*$)/.test(this.#lines[to - 1] as string)) to--
    const root: SourceEntry = { value, node, line, column: 0, from: line, to }
    this.#fill(root)
    return { lines: this.#lines, root, offsetOf: (at) => this.#starts[at] as number }
  }

  #fill(entry: SourceEntry): void {
    const { node } = entry
    if (node.kind === 'scalar' || node.kind === 'alias') return
    if ('{['.includes(this.#text.charAt(node.start))) return
    const children = node.kind === 'mapping' ? this.#members(entry, node) : this.#items(entry, node)
    if (children === undefined) return
    children.forEach((child, index) => {
      child.to = children[index + 1]?.from ?? this.#endOf(child, entry.to)
      child.parent = entry
    })
    entry.children = children
    for (const child of children) this.#fill(child)
  }

  /** Undefined for mappings whose keys are not plain names. */
  #members(entry: SourceEntry, node: MappingYaml): SourceEntry[] | undefined {
    const members: SourceEntry[] = []
    const value = entry.value as Readonly<Record<string, unknown>>
    for (let i = 0; i + 1 < node.items.length; i += 2) {
      const [keyNode, valueNode] = [node.items[i] as YamlNode, node.items[i + 1] as YamlNode]
      if (keyNode.kind !== 'scalar') return undefined
      const key = keyName(keyNode)
      const start = keyNode.start - (this.#isQuoted(keyNode) ? 1 : 0)
      const line = this.#lineOf(start)
      const column = start - (this.#starts[line] as number)
      const from = this.#leading(line, column, members.at(-1)?.line ?? entry.line)
      members.push({ key, value: Object.hasOwn(value, key) ? value[key] : undefined, node: valueNode, line, column, from, to: 0 })
    }
    return members
  }

  #items(entry: SourceEntry, node: SequenceYaml): SourceEntry[] | undefined {
    const column = node.start - (this.#starts[this.#lineOf(node.start)] as number)
    const values = entry.value as readonly unknown[]
    const items: SourceEntry[] = []
    let line = this.#lineOf(node.start)
    for (const [index, item] of node.items.entries()) {
      if (index > 0) line = this.#dashLine(line + 1, column, entry.to)
      if (line < 0) return undefined
      const from = this.#leading(line, column, items.at(-1)?.line ?? entry.line)
      items.push({ value: values[index], node: item, line, column, from, to: 0 })
    }
    return items
  }

  /** Next line with a dash at the column. */
  #dashLine(from: number, column: number, to: number): number {
    for (let line = from; line < to; line++) {
      const text = this.#lines[line] as string
      if (text.length > column && text.slice(0, column).trim() === '' && /^-(?:\s|$)/.test(text.slice(column))) return line
    }
    return -1
  }

  /**
   * First line of the comments and blank lines before an entry. More deeply indented comments belong to the previous entry.
   */
  #leading(line: number, column: number, after: number): number {
    let from = line
    while (from - 1 > after) {
      const text = this.#lines[from - 1] as string
      if (!commentOrBlank.test(text)) break
      if (text.trim() !== '' && text.length - text.trimStart().length > column) break
      from--
    }
    return from
  }

  /** Returns the end of an entry: less indented comments after its last child belong to the parent. */
  #endOf({ line, column }: SourceEntry, limit: number): number {
    let to = limit
    for (; to - 1 > line; to--) {
      const text = this.#lines[to - 1] as string
      const isOutside = text.trim() === '' || text.length - text.trimStart().length < column
      if (!commentOrBlank.test(text) || !isOutside) break
    }
    return to
  }

  #isQuoted({ plain, start }: ScalarYaml): boolean {
    return !plain && start > 0 && '"\''.includes(this.#text.charAt(start - 1))
  }

  #lineOf(offset: number): number {
    let [low, high] = [0, this.#lines.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#starts[middle] as number) <= offset) low = middle
      else high = middle - 1
    }
    return low
  }
}

/** Whether two values are equal as JSON. */
export function equalValues(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b)
  if (a instanceof NumberLiteral || b instanceof NumberLiteral)
    return a instanceof NumberLiteral && b instanceof NumberLiteral && a.text === b.text
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [one, two] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>]
  const names = Object.keys(one)
  return (
    names.length === Object.keys(two).length &&
    names.every((name) => Object.hasOwn(two, name) && equalValues(one[name], two[name]))
  )
}

/** Whether a value is a mapping or a list. */
export function isCollection(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof NumberLiteral)
}

/** Members or items of a collection, by name or index. */
export function partsOf(value: object): (readonly [string, unknown])[] {
  return Object.entries(value)
}
