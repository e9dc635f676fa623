import { parseJson } from '../json/parse-json.direct.ts'
import { DecodeError } from '../schema-error.ts'
import type { YamlNode } from '../yaml/nodes.ts'
import { parseYaml } from '../yaml/parse-yaml.ts'
import { readNodes } from '../yaml/read-nodes.ts'
import { yamlErrorPrefix } from '../yaml/yaml-error.ts'
import { findNode, keyName } from './find-node.ts'
import { JsonSyntaxError, readJsonNodes } from './json-nodes.ts'
import { type BadSeparator, breaksBetween, type ManifestChunk, opensJson, splitManifest } from './split.ts'
import { TextLines, type TextRange } from './text-lines.ts'

/** Manifest files: all documents of a text, YAML or JSON, with the text ranges of their members. Ranges are computed on demand. */

/** A member whose name the same object already uses. */
export interface RepeatedMember {
  readonly path: string
  readonly range: TextRange
}

export interface ManifestDocument {
  readonly kind: 'document'
  /** The value as `parseYaml` or `parseJson` with literals returns it, ready for `decode`. Owned by the caller. */
  readonly value: unknown
  /**
   * Range of the value at a path such as `spec.containers[0].image`. For a value that is not a scalar: the member name. For
   * a path that does not exist: the nearest ancestor.
   *
   * @param what `name`: always the member name.
   */
  range(path: string, what?: 'name' | 'value'): TextRange
  /** Steps of the path, as far as it can be followed. */
  steps(path: string): readonly (string | number)[]
  /**
   * The member or item whose name or scalar value is at a position of the text; undefined elsewhere. Lines and columns count
   * from 1.
   */
  at(line: number, column: number): ManifestPlace | undefined
  /** Duplicate members in text order. */
  repeated(): readonly RepeatedMember[]
}

/** A position in a document. */
export interface ManifestPlace {
  /** Steps of the path. */
  readonly steps: readonly (string | number)[]
  readonly part: 'name' | 'value'
  /** Range of the name or value. */
  readonly range: TextRange
}

/** A document, or the rest of the text, that cannot be parsed. */
export interface ManifestError {
  readonly kind: 'error'
  /** Error message without the position. */
  readonly message: string
  readonly range: TextRange
}

export interface ReadManifestOptions {
  /** Accept only JSON between the separators, as for a `.json` file. Default false. */
  readonly json?: boolean
}

/**
 * Reads all documents of a text as kubectl does: documents separated by `---` lines, each YAML or JSON, or consecutive JSON
 * values. Empty documents are omitted. Differs: kubectl ends at the first error, and ignores the text between a `...` line
 * and the next separator.
 *
 * @example
 * import { readManifest } from '@krmkit/schema/manifest'
 * const text = 'kind: Namespace\n---\nkind: [Pod\n'
 * for (const document of readManifest(text)) {
 *   if (document.kind === 'error') console.error(document.message, document.range)
 *   else console.log(document.value)
 * }
 */
export function readManifest(text: string, { json = false }: ReadManifestOptions = {}): (ManifestDocument | ManifestError)[] {
  return splitManifest(text).flatMap((chunk, index) => {
    if ('badSeparator' in chunk) return [separatorError(chunk)]
    if (json) return readJsonDocuments(chunk)
    return index === 0 && opensJson(chunk.text) ? readJsonOrYaml(chunk) : readYamlDocument(chunk)
  })
}

/**
 * Reads consecutive JSON values, or one value and YAML on the lines after it: text that starts with a brace may be a YAML flow mapping, and
 * comments may follow it.
 */
function readJsonOrYaml(chunk: ManifestChunk): readonly (ManifestDocument | ManifestError)[] {
  const { text, line, separated } = chunk
  const { documents, end, error } = readJsonValues(chunk)
  if (documents.length > 1) {
    const last = new TextLines(text, line).range(text.length, text.length)
    const found =
      error ?? (separated ? errorAt('a separator follows consecutive JSON values', last.line, last.column) : undefined)
    return found === undefined ? documents : [...documents, found]
  }
  if (error === undefined) return documents
  const rest = text.slice(end)
  const blank = end === 0 ? 0 : (/^[^\S\n]*\n/.exec(rest)?.[0].length ?? -1)
  if (blank < 0) return [...documents, error]
  const yaml = readYamlDocument({ ...chunk, text: rest.slice(blank), line: line + breaksBetween(text, 0, end + blank) })
  return [...documents, ...(yaml[0]?.kind === 'error' ? [error] : yaml)]
}

interface JsonValues {
  readonly documents: readonly ManifestDocument[]
  /** Offset after the last value. */
  readonly end: number
  /** The error in the text after it. */
  readonly error?: ManifestError
}

function readJsonDocuments(chunk: ManifestChunk): readonly (ManifestDocument | ManifestError)[] {
  const { documents, error } = readJsonValues(chunk)
  return error === undefined ? documents : [...documents, error]
}

function readJsonValues({ text, line }: ManifestChunk): JsonValues {
  const lines = lazy(() => new TextLines(text, line))
  const whole = attempt(() => parseJson(text, { literals: true }))
  if (!(whole instanceof DecodeError)) {
    const root = lazy(() => readJsonNodes(text, 0).root)
    const parts = { source: text, root, lines, repeats: whole.duplicates !== undefined }
    return { documents: [new Document(whole.value, parts)], end: text.length }
  }
  const documents: ManifestDocument[] = []
  let at = 0
  while (/\S/.test(text.slice(at))) {
    try {
      const { root, end } = readJsonNodes(text, at)
      const { value, duplicates } = parseJson(text.slice(at, end), { literals: true })
      const parts = { source: text, root: () => root, lines, repeats: duplicates !== undefined }
      documents.push(new Document(value, parts))
      at = end
    } catch (error) {
      const parsed = attempt(() => parseJson(text.slice(at), { literals: true }))
      const message = (parsed instanceof DecodeError ? parsed : (error as Error)).message
      const offset = error instanceof JsonSyntaxError ? error.offset : at
      return { documents, end: at, error: { kind: 'error', message, range: lines().range(offset, offset) } }
    }
  }
  return { documents, end: at }
}

function readYamlDocument(chunk: ManifestChunk): readonly (ManifestDocument | ManifestError)[] {
  const { text, line } = chunk
  const parsed = attempt(() => parseYaml(text, { literals: true }))
  if (parsed instanceof DecodeError) return [toManifestError(parsed, chunk)]
  const { value, problems } = parsed
  if (value === null) return []
  const parts = {
    source: text,
    root: lazy(() => readNodes(text) as YamlNode),
    lines: lazy(() => new TextLines(text, line)),
    repeats: problems.length > 0,
  }
  return [new Document(value, parts)]
}

function separatorError({ badSeparator, line, column }: BadSeparator): ManifestError {
  return errorAt(`invalid Yaml document separator: ${badSeparator}`, line + 1, column + 1)
}

function errorAt(message: string, line: number, column: number): ManifestError {
  return { kind: 'error', message, range: { line, column, endLine: line, endColumn: column } }
}

function toManifestError({ message, mark }: DecodeError, { text, line }: ManifestChunk): ManifestError {
  const lineMatch = /^line (\d+): /.exec(message.slice(message.startsWith(yamlErrorPrefix) ? yamlErrorPrefix.length : 0))
  const plain = message
    .replace(yamlErrorPrefix, '')
    .replace(/^error converting YAML to JSON: /, '')
    .replace(/^line \d+: /, '')
  const first = text.search(/[^\s]/)
  const at = mark ?? { line: lineMatch === null ? 0 : Number(lineMatch[1]) - 1, column: 0 }
  // Errors at the end of the text are located at the end of its content.
  const last = text.trimEnd().split('\n').length - 1
  const beyond = at.line > last
  const range = beyond
    ? { line: line + last + 1, column: (text.trimEnd().split('\n')[last] ?? '').length + 1 }
    : { line: line + at.line + 1, column: at.column + 1 + (mark === undefined && lineMatch === null ? Math.max(first, 0) : 0) }
  return errorAt(plain, range.line, range.column)
}

interface DocumentParts {
  readonly source: string
  readonly root: () => YamlNode
  readonly lines: () => TextLines
  /** Whether the parser found duplicate members. */
  readonly repeats: boolean
}

class Document implements ManifestDocument {
  readonly kind = 'document'
  readonly value: unknown
  readonly #parts: DocumentParts

  constructor(value: unknown, parts: DocumentParts) {
    this.value = value
    this.#parts = parts
  }

  range(path: string, what: 'name' | 'value' = 'value'): TextRange {
    const { node, key, complete: whole } = findNode(this.#parts.root(), path)
    const wanted = whole && what === 'value' && node.kind === 'scalar' && node.end > node.start ? node : (key ?? node)
    return this.#rangeOf(wanted)
  }

  steps(path: string): readonly (string | number)[] {
    return findNode(this.#parts.root(), path).steps
  }

  at(line: number, column: number): ManifestPlace | undefined {
    const offset = this.#parts.lines().offset(line, column)
    return offset === undefined ? undefined : this.#placeIn(this.#parts.root(), [], offset)
  }

  #placeIn(node: YamlNode, steps: readonly (string | number)[], offset: number): ManifestPlace | undefined {
    if (node.kind === 'scalar') return this.#place(node, steps, { offset, part: 'value' })
    if (node.kind === 'alias') return undefined
    const stride = node.kind === 'mapping' ? 2 : 1
    // The last child that starts before the position; a quote precedes the start of its scalar.
    let low = 0
    let high = node.items.length / stride - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((node.items[middle * stride] as YamlNode).start - 1 <= offset) low = middle
      else high = middle - 1
    }
    const first = node.items[low * stride]
    if (first === undefined) return undefined
    if (node.kind === 'sequence') return this.#placeIn(first, [...steps, low], offset)
    if (first.kind !== 'scalar') return undefined
    const inside = [...steps, keyName(first)]
    const value = node.items[low * stride + 1]
    return (
      this.#place(first, inside, { offset, part: 'name' }) ??
      (value === undefined ? undefined : this.#placeIn(value, inside, offset))
    )
  }

  #place(
    node: YamlNode,
    steps: readonly (string | number)[],
    { offset, part }: { readonly offset: number; readonly part: 'name' | 'value' },
  ): ManifestPlace | undefined {
    const [start, end] = this.#spanOf(node)
    return start <= offset && offset <= end ? { steps, part, range: this.#rangeOf(node) } : undefined
  }

  repeated(): readonly RepeatedMember[] {
    if (!this.#parts.repeats) return []
    const found: RepeatedMember[] = []
    this.#collect(this.#parts.root(), '', found)
    return found
  }

  #collect(node: YamlNode, path: string, found: RepeatedMember[]): void {
    if (node.kind === 'sequence') node.items.forEach((item, index) => void this.#collect(item, `${path}[${index}]`, found))
    if (node.kind !== 'mapping') return
    const seen = new Set<string>()
    for (let i = 0; i + 1 < node.items.length; i += 2) {
      const key = node.items[i] as YamlNode
      if (key.kind !== 'scalar') continue
      const name = keyName(key)
      const at = path === '' ? name : `${path}.${name}`
      if (seen.has(name) && name !== '<<') found.push({ path: at, range: this.#rangeOf(key) })
      seen.add(name)
      this.#collect(node.items[i + 1] as YamlNode, at, found)
    }
  }

  #rangeOf(node: YamlNode): TextRange {
    return this.#parts.lines().range(...this.#spanOf(node))
  }

  /** Offsets of the first character and after the last one. */
  #spanOf(node: YamlNode): readonly [start: number, end: number] {
    if (node.kind !== 'scalar') return [node.start, node.start + 1]
    const { source } = this.#parts
    const quoted = !node.plain && '"\''.includes(source.charAt(node.start - 1)) && node.start > 0
    return [node.start - (quoted ? 1 : 0), Math.max(node.start + 1, node.end + (quoted ? 1 : 0))]
  }
}

function attempt<V>(run: () => V): V | DecodeError {
  try {
    return run()
  } catch (error) {
    if (error instanceof DecodeError) return error
    throw error
  }
}

function lazy<V>(make: () => V): () => V {
  let made: { value: V } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
