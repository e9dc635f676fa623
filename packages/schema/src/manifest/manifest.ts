import { DecodeError } from '../errors.ts'
import { parseJson } from '../json/parse-json.ts'
import type { YamlNode } from '../yaml/nodes.ts'
import { parseYaml } from '../yaml/parse-yaml.ts'
import { prefix, readNodes } from '../yaml/read-nodes.ts'
import { findNode, nameOf } from './find-node.ts'
import { JsonFault, readJsonNodes } from './json-nodes.ts'
import { splitYaml, type YamlChunk } from './split.ts'
import { TextLines, type TextRange } from './text-lines.ts'

/**
 * Files of manifests: every document of a text, YAML or JSON, and where in the text its members are. Places are worked out
 * only when they are asked for.
 */

/** Something that the text says twice. */
export interface RepeatedMember {
  readonly path: string
  readonly range: TextRange
}

/** A document that could be read. */
export interface ManifestDocument {
  readonly kind: 'document'
  /** As `parseYaml` and `parseJson` with literals give it: for decoding against types. The caller's own. */
  readonly value: unknown
  /**
   * Where a path such as `spec.containers[0].image` leads: its value when that is a scalar, otherwise the name of the member; the
   * nearest thing above where it leads nowhere.
   *
   * @param what `name`: the name of the member in any case.
   */
  range(path: string, what?: 'name' | 'value'): TextRange
  /** The path in steps, as far as it can be followed. */
  steps(path: string): readonly (string | number)[]
  /** Members whose name the same object has used before, in the order of the text. */
  repeated(): readonly RepeatedMember[]
}

/** A document, or the rest of a text, that could not be read. */
export interface ManifestFault {
  readonly kind: 'fault'
  /** What is wrong, for people; without the place. */
  readonly message: string
  readonly range: TextRange
}

export interface ReadManifestOptions {
  /** Takes nothing but JSON, as for a file whose name says so. Default false. */
  readonly json?: boolean
}

/**
 * Reads a text of any number of documents: YAML separated by markers, or JSON values one after the other. Documents without
 * content are left out.
 */
export function readManifest(
  text: string,
  { json: strict = false }: ReadManifestOptions = {},
): (ManifestDocument | ManifestFault)[] {
  const source = text.startsWith('\ufeff') ? text.slice(1) : text
  if (!strict && !/^\s*\{/.test(source)) return readYamlDocuments(source)
  const json = readJsonDocuments(source)
  if (strict || json[0]?.kind !== 'fault') return json
  // A mapping in braces need not be JSON.
  const yaml = readYamlDocuments(source)
  return yaml[0]?.kind === 'document' ? yaml : json
}

function readJsonDocuments(text: string): (ManifestDocument | ManifestFault)[] {
  const lines = lazy(() => new TextLines(text, 0))
  const whole = attempt(() => parseJson(text, { literals: true }))
  if (!(whole instanceof DecodeError)) {
    const root = lazy(() => readJsonNodes(text, 0).root)
    return [new Document(whole.value, { source: text, root, lines, repeats: whole.duplicates !== undefined })]
  }
  const documents: (ManifestDocument | ManifestFault)[] = []
  for (let at = 0; /\S/.test(text.slice(at)); ) {
    try {
      const { root, end } = readJsonNodes(text, at)
      const { value, duplicates } = parseJson(text.slice(at, end), { literals: true })
      const parts = { source: text, root: () => root, lines, repeats: duplicates !== undefined }
      documents.push(new Document(value, parts))
      at = end
    } catch (error) {
      const parsed = attempt(() => parseJson(text.slice(at), { literals: true }))
      const message = (parsed instanceof DecodeError ? parsed : (error as Error)).message
      const offset = error instanceof JsonFault ? error.offset : at
      documents.push({ kind: 'fault', message, range: lines().range(offset, offset) })
      break
    }
  }
  return documents
}

function readYamlDocuments(text: string): (ManifestDocument | ManifestFault)[] {
  return splitYaml(text).flatMap((chunk): readonly (ManifestDocument | ManifestFault)[] => {
    const parsed = attempt(() => parseYaml(chunk.text))
    if (parsed instanceof DecodeError) return [yamlFault(parsed, chunk)]
    const { value, problems } = parsed
    if (value === null) return []
    const nodes = lazy(() => readNodes(chunk.text))
    const parts = {
      get source() {
        return nodes().source
      },
      root: () => nodes().root as YamlNode,
      lines: lazy(() => new TextLines(nodes().source, chunk.line)),
      repeats: problems.length > 0,
    }
    return [new Document(value, parts)]
  })
}

function yamlFault({ message, place: { mark } }: DecodeError, { text, line }: YamlChunk): ManifestFault {
  const told = /^line (\d+): /.exec(message.slice(message.startsWith(prefix) ? prefix.length : 0))
  const plain = message
    .replace(prefix, '')
    .replace(/^error converting YAML to JSON: /, '')
    .replace(/^line \d+: /, '')
  const first = text.search(/[^\s]/)
  const at = mark ?? { line: told === null ? 0 : Number(told[1]) - 1, column: 0 }
  // The end of the text is told as the end of what is there.
  const last = text.trimEnd().split('\n').length - 1
  const beyond = at.line > last
  const range = beyond
    ? { line: line + last + 1, column: (text.trimEnd().split('\n')[last] ?? '').length + 1 }
    : { line: line + at.line + 1, column: at.column + 1 + (mark === undefined && told === null ? Math.max(first, 0) : 0) }
  return { kind: 'fault', message: plain, range: { ...range, endLine: range.line, endColumn: range.column } }
}

interface DocumentParts {
  readonly source: string
  readonly root: () => YamlNode
  readonly lines: () => TextLines
  /** The parser has seen members twice. */
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
    const { node, key, whole } = findNode(this.#parts.root(), path)
    const wanted = whole && what === 'value' && node.kind === 'scalar' && node.end > node.start ? node : (key ?? node)
    return this.#rangeOf(wanted)
  }

  steps(path: string): readonly (string | number)[] {
    return findNode(this.#parts.root(), path).steps
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
      const name = nameOf(key)
      const at = path === '' ? name : `${path}.${name}`
      if (seen.has(name) && name !== '<<') found.push({ path: at, range: this.#rangeOf(key) })
      seen.add(name)
      this.#collect(node.items[i + 1] as YamlNode, at, found)
    }
  }

  #rangeOf(node: YamlNode): TextRange {
    const { source, lines } = this.#parts
    if (node.kind !== 'scalar') return lines().range(node.start, node.start + 1)
    const quoted = !node.plain && '"\''.includes(source.charAt(node.start - 1)) && node.start > 0
    return lines().range(node.start - (quoted ? 1 : 0), Math.max(node.start + 1, node.end + (quoted ? 1 : 0)))
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
