import type { YamlNode } from '../yaml/nodes.ts'

/** Reads JSON text as a tree of nodes with offsets, to locate values in the text. Values are interpreted by the parsers. */

/** Thrown when the text is not JSON from `offset` on. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError'
  readonly offset: number

  constructor(offset: number) {
    super('not JSON')
    this.offset = offset
  }
}

/** Maximum nesting. */
const maxDepth = 1000

/**
 * Reads one value.
 *
 * @returns the value, and the offset after it.
 * @throws JsonSyntaxError
 */
export function readJsonNodes(text: string, offset: number): { readonly root: YamlNode; readonly end: number } {
  const reader = new NodeReader(text, offset)
  const root = reader.value(0)
  return { root, end: reader.at }
}

const scalar = /(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|true|false|null)/y
const space = /[ \t\r\n]*/y

class NodeReader {
  readonly #text: string
  at: number

  constructor(text: string, offset: number) {
    this.#text = text
    this.at = offset
  }

  value(depth: number): YamlNode {
    this.#skip()
    if (depth > maxDepth) this.#fail()
    const char = this.#text[this.at]
    if (char === '{') return this.#mapping(depth)
    if (char === '[') return this.#sequence(depth)
    if (char === '"') return this.#string()
    scalar.lastIndex = this.at
    const found = scalar.exec(this.#text)?.[0]
    if (found === undefined) return this.#fail()
    const start = this.at
    this.at += found.length
    return { kind: 'scalar', start, end: this.at, tag: '', text: found, plain: true }
  }

  #mapping(depth: number): YamlNode {
    const start = this.at++
    const items: YamlNode[] = []
    this.#list('}', () => {
      this.#skip()
      if (this.#text[this.at] !== '"') this.#fail()
      items.push(this.#string())
      this.#skip()
      if (this.#text[this.at] !== ':') this.#fail()
      this.at++
      items.push(this.value(depth + 1))
    })
    return { kind: 'mapping', start, items }
  }

  #sequence(depth: number): YamlNode {
    const start = this.at++
    const items: YamlNode[] = []
    this.#list(']', () => items.push(this.value(depth + 1)))
    return { kind: 'sequence', start, items }
  }

  #list(close: string, item: () => void): void {
    this.#skip()
    if (this.#text[this.at] === close) {
      this.at++
      return
    }
    for (;;) {
      item()
      this.#skip()
      const char = this.#text[this.at]
      if (char !== ',' && char !== close) this.#fail()
      this.at++
      if (char === close) return
    }
  }

  #string(): YamlNode {
    const start = ++this.at
    let escaped = false
    for (;;) {
      const code = this.#text.charCodeAt(this.at)
      if (code === 0x22) break
      if (Number.isNaN(code) || code < 0x20) this.#fail()
      if (code === 0x5c) {
        escaped = true
        this.at++
      }
      this.at++
    }
    const end = this.at++
    const raw = this.#text.slice(start, end)
    return { kind: 'scalar', start, end, tag: '', text: escaped ? this.#unescaped(raw, start) : raw, plain: false }
  }

  #unescaped(raw: string, start: number): string {
    try {
      return JSON.parse(`"${raw}"`) as string
    } catch {
      this.at = start
      return this.#fail()
    }
  }

  #skip(): void {
    space.lastIndex = this.at
    this.at += space.exec(this.#text)?.[0].length ?? 0
  }

  #fail(): never {
    throw new JsonSyntaxError(this.at)
  }
}
