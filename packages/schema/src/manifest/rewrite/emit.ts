import { type Alignment, below } from './align.ts'
import type { Comment } from './comments.ts'
import { blockLines, inlineText, keyText, scalarLike } from './new-text.ts'
import { equalValues, isCollection, partsOf, type SourceDocument, type SourceEntry } from './source-tree.ts'

/**
 * Prints a changed value with the text of a document: unchanged parts keep their lines, changed parts keep their comments
 * and style.
 */

export interface EmitInput {
  readonly text: string
  readonly document: SourceDocument
  readonly alignment: Alignment
  readonly comments: readonly Comment[]
}

/** The lines of the root. */
export function emitRoot(value: object, input: EmitInput): string[] {
  return new Emitter(input).root(value)
}

/** A part to print: a member with a name, or an item without. */
interface Part {
  readonly name: string | undefined
  readonly value: unknown
  readonly path: string
  readonly column: number
}

class Emitter {
  readonly #text: string
  readonly #document: SourceDocument
  readonly #alignment: Alignment
  readonly #comments: readonly Comment[]
  readonly #kept: ReadonlySet<SourceEntry>
  /** Indentation of lists below their key. */
  readonly #listIndent: number

  constructor({ text, document, alignment, comments }: EmitInput) {
    this.#text = text
    this.#document = document
    this.#alignment = alignment
    this.#comments = comments
    this.#kept = new Set(alignment.values())
    this.#listIndent = listIndent(document.root)
  }

  root(value: object): string[] {
    const { root } = this.#document
    if (partsOf(value).length === 0) return [Array.isArray(value) ? '[]' : '{}']
    return [...this.#children(value, '', root, root.children?.[0]?.column ?? 0), ...this.#tail(root, 0)]
  }

  #children(value: object, path: string, entry: SourceEntry | undefined, column: number): string[] {
    const isItem = Array.isArray(value)
    let orphans = entry === undefined ? [] : this.#orphans(entry)
    const lines: string[] = []
    for (const [name, part] of partsOf(value)) {
      const at = `${path}/${name}`
      const isFresh = !this.#alignment.has(at) || this.#alignment.get(at)?.parent !== entry
      if (isFresh && orphans.length > 0) {
        lines.push(...orphans.map((text) => ' '.repeat(column) + text))
        orphans = []
      }
      lines.push(...this.#part({ name: isItem ? undefined : name, value: part, path: at, column }))
    }
    return [...lines, ...orphans.map((text) => ' '.repeat(column) + text)]
  }

  /** Comments after the last child. */
  #tail(entry: SourceEntry, by: number): string[] {
    const from = entry.children?.at(-1)?.to ?? entry.to
    return this.#document.lines.slice(from, entry.to).map((line) => shifted(line, by))
  }

  /** Comments of removed children, except comments that other parts take over. */
  #orphans(entry: SourceEntry): string[] {
    return (entry.children ?? []).flatMap((child) => {
      if (this.#kept.has(child)) return []
      const taken = below(child).filter((inner) => this.#kept.has(inner))
      return this.#commentsIn(child.from, child.to, taken)
    })
  }

  #commentsIn(from: number, to: number, except: readonly SourceEntry[] = []): string[] {
    return this.#comments
      .filter(({ line }) => line >= from && line < to && !except.some((entry) => line >= entry.from && line < entry.to))
      .map(({ text }) => text)
  }

  #part(part: Part): string[] {
    const entry = this.#alignment.get(part.path)
    if (entry === undefined || (entry.key === undefined) !== (part.name === undefined)) return this.#fresh(part, undefined)
    if (equalValues(entry.value, part.value)) return this.#copied(entry, part)
    if (isCollection(part.value) && entry.children !== undefined && Array.isArray(entry.value) === Array.isArray(part.value))
      return this.#changedCollection(entry, part, part.value)
    if (!isCollection(part.value) && !isCollection(entry.value)) {
      const changed = this.#changedScalar(entry, part)
      if (changed !== undefined) return changed
    }
    return [...this.#leading(entry, part.column), ...this.#fresh(part, entry)]
  }

  /** Returns the lines of an entry, moved to a column, with the name of the part. */
  #copied(entry: SourceEntry, { name, column }: Part): string[] {
    const rest = this.#document.lines.slice(entry.line + 1, entry.to).map((line) => shifted(line, column - entry.column))
    return [...this.#leading(entry, column), ' '.repeat(column) + this.#head(entry, name), ...rest]
  }

  #leading(entry: SourceEntry, column: number): string[] {
    return this.#document.lines.slice(entry.from, entry.line).map((line) => shifted(line, column - entry.column))
  }

  /** Returns the line of a key or dash from its column on, with the name replaced if it changed. */
  #head(entry: SourceEntry, name: string | undefined): string {
    const line = (this.#document.lines[entry.line] as string).slice(entry.column)
    if (name === undefined || name === entry.key) return line
    const quoted = /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')/.exec(line)?.[0]
    const end = quoted?.length ?? line.search(/\s*:(?:\s|$)/)
    return keyText(name) + line.slice(end)
  }

  #changedCollection(entry: SourceEntry, { name, path, column }: Part, value: object): string[] {
    const leading = this.#leading(entry, column)
    const [first] = entry.children ?? []
    if (partsOf(value).length === 0 || first === undefined)
      return [...leading, ...this.#fresh({ name, path, column, value }, entry)]
    const by = column - entry.column
    const inner = [...this.#children(value, path, entry, first.column + by), ...this.#tail(entry, by)]
    if (first.line === entry.line) return [...leading, ...dashed(inner, column, first.column - entry.column)]
    const between = this.#document.lines.slice(entry.line + 1, first.from).map((line) => shifted(line, by))
    return [...leading, ' '.repeat(column) + this.#head(entry, name), ...between, ...inner]
  }

  /** Replaces a one-line scalar in place; undefined if its text has several lines. */
  #changedScalar(entry: SourceEntry, { name, value, column }: Part): string[] | undefined {
    const { node } = entry
    if (node.kind !== 'scalar' || node.end === node.start || node.tag !== '') return undefined
    const text = scalarLike(value, node, this.#text)
    const start = this.#document.offsetOf(entry.line)
    const line = this.#document.lines[entry.line] as string
    const quote = !node.plain && '"\''.includes(this.#text.charAt(node.start - 1)) ? 1 : 0
    const [from, to] = [node.start - quote - start, node.end + quote - start]
    if (text === undefined || from < 0 || to > line.length) return undefined
    const head = this.#head(entry, name)
    const grown = head.length - (line.length - entry.column)
    const changed = head.slice(0, from - entry.column + grown) + text + line.slice(to)
    const rest = this.#document.lines.slice(entry.line + 1, entry.to).map((each) => shifted(each, column - entry.column))
    return [...this.#leading(entry, column), ' '.repeat(column) + changed, ...rest]
  }

  /** Prints a new part. Comments of the replaced entry come first. */
  #fresh(part: Part, replaced: SourceEntry | undefined): string[] {
    const { name, value, path, column } = part
    const indent = ' '.repeat(column)
    const comments = replaced === undefined ? [] : this.#commentsIn(replaced.line, replaced.to).map((text) => indent + text)
    return [...comments, ...this.#freshLines(name, value, path, column, replaced)]
  }

  #freshLines(
    name: string | undefined,
    value: unknown,
    path: string,
    column: number,
    replaced: SourceEntry | undefined,
  ): string[] {
    const indent = ' '.repeat(column)
    const head = name === undefined ? '-' : `${keyText(name)}:`
    const isFlow = replaced !== undefined && isCollection(replaced.value) && replaced.children === undefined
    if (isCollection(value) && partsOf(value).length > 0 && !isFlow) {
      const isList = Array.isArray(value)
      if (name === undefined) return dashed(this.#children(value, path, undefined, column + 2), column, 2)
      return [indent + head, ...this.#children(value, path, undefined, column + (isList ? this.#listIndent : 2))]
    }
    const text = inlineText(value)
    if (text !== undefined) return [`${indent}${head} ${text}`]
    const lines = blockLines(name ?? '-', value as string, column)
    return name === undefined ? [`${indent}- ${JSON.stringify(value)}`] : lines
  }
}

/** Puts a dash before the first line that is not a comment. */
function dashed(lines: readonly string[], column: number, width: number): string[] {
  const first = lines.findIndex((line) => !/^\s*(?:#|$)/.test(line))
  return lines.map((line, index) => {
    if (index < first) return shifted(line, -width)
    if (index > first) return line
    return `${' '.repeat(column)}-${' '.repeat(width - 1)}${line.slice(column + width)}`
  })
}

/** Indents or outdents a line; blank lines are unchanged. */
function shifted(line: string, by: number): string {
  if (by === 0 || line.trim() === '') return line
  if (by > 0) return ' '.repeat(by) + line
  const indent = line.length - line.trimStart().length
  return line.slice(Math.min(-by, indent))
}

/** How far the first list of the document is indented below its key. */
function listIndent(root: SourceEntry): number {
  for (const entry of below(root)) {
    const [item] = entry.children ?? []
    if (entry.key !== undefined && item !== undefined && item.key === undefined) return item.column - entry.column
  }
  return 0
}
