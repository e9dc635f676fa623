import { memberNames } from '@krmkit/base/work'
import { isJsonObject } from '@krmkit/meta'
import { shortestFloat } from '@krmkit/meta/go-text'
import { IncrementalSort } from './incremental-sort.ts'
import { compareNaturally } from './natural-order.ts'
import { isUnprintable, scalarStyle } from './scalar-style.ts'

/**
 * Prints values as YAML, byte for byte as kube-apiserver does: keys in natural order, lists at the indentation of their key, long
 * lines folded after 80 columns.
 */

/**
 * Prints a value as YAML with a final newline. Omits `undefined` members.
 *
 * @example
 * import { printYaml } from '@krmkit/schema'
 * printYaml({ kind: 'ConfigMap', data: { a: '1' } }) // 'data:\n  a: "1"\nkind: ConfigMap\n'
 */
export function printYaml(value: unknown): string {
  const printer = new Printer(value)
  while (printer.step());
  return printer.take()
}

/**
 * As `printYaml`, in UTF-8.
 *
 * @see {@link printYaml}
 */
export function encodeYaml(value: unknown): Uint8Array {
  return new TextEncoder().encode(printYaml(value))
}

/**
 * The text of `printYaml` in chunks of about `pieceLength` characters, some empty, so that printing large values can pause.
 *
 * @example
 * import { yamlChunks } from '@krmkit/schema/yaml'
 * [...yamlChunks({ kind: 'ConfigMap' })].join('') // 'kind: ConfigMap\n'
 * @see {@link printYaml}
 */
export function* yamlChunks(value: unknown, pieceLength = 4096): Generator<string, void> {
  const printer = new Printer(value)
  while (printer.step()) if (printer.length >= pieceLength || printer.isSorting) yield printer.take()
  yield printer.take()
}

const foldAfter = 80
/** Mappings with more keys are sorted in steps. */
const incrementalSortThreshold = 2048
/** Longer keys use the explicit form (`? key`). */
const maxSimpleKey = 128

/** A mapping or list that is being printed. */
interface OpenContainer {
  /** Sorted keys; absent for lists. */
  keys: readonly string[] | undefined
  /** Sort in progress, for mappings with many keys. */
  sort: IncrementalSort | undefined
  readonly container: Readonly<Record<string, unknown>> | readonly unknown[]
  readonly indent: number
  next: number
  /** Whether the next line continues a line that was started. */
  begun: boolean
}

class Printer {
  #text = ''
  #column = 0
  #lineStart = true
  readonly #open: OpenContainer[] = []

  constructor(root: unknown) {
    if (isMapping(root)) this.#mapping(root, 0, false)
    else if (isList(root)) this.#list(root, 0, false)
    else this.#scalar(root, 2)
  }

  /** Number of characters printed but not taken. */
  get length(): number {
    return this.#text.length
  }

  get isSorting(): boolean {
    return this.#open.at(-1)?.sort !== undefined
  }

  take(): string {
    const text = this.#text
    this.#text = ''
    return text
  }

  /**
   * Prints the next key or element.
   *
   * @returns false when printing is complete.
   */
  step(): boolean {
    const top = this.#open.at(-1)
    if (top === undefined) {
      if (!this.#lineStart) this.#break()
      return false
    }
    if (top.sort !== undefined) {
      top.keys = top.sort.step()
      if (top.keys !== undefined) top.sort = undefined
    } else if (top.next === (top.keys ?? top.container).length) this.#open.pop()
    else if (top.keys === undefined) this.#element(top, (top.container as readonly unknown[])[top.next++])
    else this.#member(top, top.keys[top.next++] as string)
    return true
  }

  /** @param begun whether the first key continues a started line. */
  #mapping(container: Record<string, unknown>, indent: number, begun: boolean): void {
    const keys = memberNames(container)
    const sort = keys.length > incrementalSortThreshold ? new IncrementalSort([...keys], compareNaturally) : undefined
    this.#open.push({
      keys: sort === undefined ? [...keys].sort(compareNaturally) : undefined,
      sort,
      container,
      indent,
      next: 0,
      begun,
    })
  }

  #list(container: readonly unknown[], indent: number, begun: boolean): void {
    this.#open.push({ keys: undefined, sort: undefined, container, indent, next: 0, begun })
  }

  #member(mapping: OpenContainer, key: string): void {
    const value = (mapping.container as Readonly<Record<string, unknown>>)[key]
    if (value === undefined) return
    const { indent } = mapping
    if (!mapping.begun) this.#newLine(indent)
    mapping.begun = false
    const simple = utf8Length(key) <= maxSimpleKey && !/[\r\n\u0085\u2028\u2029]/.test(key)
    if (simple) {
      this.#string(key, indent, true)
      this.#write(':')
    } else {
      this.#write('?')
      this.#write(' ')
      this.#string(key, indent + 2, false)
      this.#newLine(indent)
      this.#write(':')
    }
    this.#value(value, indent, simple)
  }

  /** Prints the value after the colon of a key. */
  #value(value: unknown, indent: number, afterSimpleKey: boolean): void {
    if (isMapping(value)) {
      if (!afterSimpleKey) this.#write(' ')
      this.#mapping(value, indent + 2, !afterSimpleKey)
    } else if (isList(value)) {
      if (afterSimpleKey) this.#list(value, indent, false)
      else {
        this.#write(' ')
        this.#list(value, indent + 2, true)
      }
    } else {
      this.#write(' ')
      this.#scalar(value, indent + 2)
    }
  }

  #element(list: OpenContainer, element: unknown): void {
    const { indent } = list
    if (!list.begun) this.#newLine(indent)
    list.begun = false
    this.#write('- ')
    if (isMapping(element)) this.#mapping(element, indent + 2, true)
    else if (isList(element)) this.#list(element, indent + 2, true)
    else this.#scalar(element, indent + 2)
  }

  /** @param indent indentation of continuation lines. */
  #scalar(value: unknown, indent: number): void {
    if (typeof value === 'string') this.#string(value, indent, false)
    else this.#write(plainText(value))
  }

  #string(text: string, indent: number, simpleKey: boolean): void {
    const style = scalarStyle(text, simpleKey)
    if (style === 'literal') this.#literal(text, indent)
    else if (style === 'double') this.#double(text, indent, simpleKey)
    else this.#folded(text, indent, simpleKey, style === 'single' ? "'" : '')
  }

  /** Breaks a line at a single space once it is long enough. */
  #folded(text: string, indent: number, simpleKey: boolean, quote: string): void {
    this.#write(quote)
    const last = text.length - 1
    const doubled = quote !== '' && text.includes("'")
    const write = (piece: string): void => this.#write(doubled ? piece.replaceAll("'", "''") : piece)
    let start = 0
    // Spaces before column 81 need no check; a doubled quote takes two columns.
    const next = (): number => text.indexOf(' ', start + (doubled ? 0 : Math.max(0, foldAfter - this.#column)))
    for (let at = simpleKey ? -1 : next(); at >= 0; at = next()) {
      write(text.slice(start, at))
      const single = text[at - 1] !== ' ' && text[at + 1] !== ' '
      const inside = quote === '' || (at > 0 && at < last)
      if (single && this.#column > foldAfter && inside) this.#newLine(indent)
      else this.#write(' ')
      start = at + 1
    }
    write(text.slice(start))
    this.#write(quote)
  }

  #double(text: string, indent: number, simpleKey: boolean): void {
    this.#write('"')
    let afterSpace = false
    /** Text before the next space. */
    let word = ''
    for (let at = 0; at < text.length; ) {
      const plain = unescapedRunEnd(text, at)
      if (plain > at) {
        word += text.slice(at, plain)
        at = plain
        afterSpace = false
        continue
      }
      const char = String.fromCodePoint(text.codePointAt(at) as number)
      const inside = at > 0 && at < text.length - 1
      at += char.length
      if (char !== ' ') {
        word += escaped(char)
        afterSpace = false
        continue
      }
      this.#write(word)
      word = ''
      if (!simpleKey && !afterSpace && this.#column > foldAfter && inside) {
        this.#newLine(indent)
        if (text[at] === ' ') this.#write('\\')
      } else this.#write(' ')
      afterSpace = true
    }
    this.#write(`${word}"`)
  }

  #literal(text: string, indent: number): void {
    this.#write('|')
    if (/^[ \r\n\u0085\u2028\u2029]/.test(text)) this.#write('2')
    if (!/[\r\n\u0085\u2028\u2029]$/.test(text)) this.#write('-')
    else if (/^.$|[\r\n\u0085\u2028\u2029].$/s.test(text)) this.#write('+')
    this.#break()
    this.#text += text.replace(/[^\n\u0085\u2028\u2029]+/g, `${' '.repeat(indent)}$&`)
    this.#lineStart = /[\n\u0085\u2028\u2029]$/.test(text)
  }

  #write(text: string): void {
    if (text === '') return
    this.#text += text
    this.#column += columnCount(text)
    this.#lineStart = false
  }

  #break(): void {
    this.#text += '\n'
    this.#column = 0
    this.#lineStart = true
  }

  #newLine(indent: number): void {
    if (!this.#lineStart) this.#break()
    this.#write(' '.repeat(indent))
  }
}

/** End of the run of characters that double quotes do not escape. */
function unescapedRunEnd(text: string, from: number): number {
  plainChars.lastIndex = from
  return plainChars.test(text) ? plainChars.lastIndex : from
}

const plainChars = /[!#-[\]-~]+/y

/** Every code point is one column. */
function columnCount(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xdc00) count--
  return count
}

function utf8Length(text: string): number {
  return text.length > maxSimpleKey ? text.length : new TextEncoder().encode(text).length
}

/** Empty containers are printed as flow scalars. */
function isMapping(value: unknown): value is Record<string, unknown> {
  return isJsonObject(value) && memberNames(value).some((name) => value[name] !== undefined)
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > 0
}

function plainText(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[]' : '{}'
  return typeof value === 'number' ? numberText(value) : String(value ?? null)
}

/** Prints a number. Integers within 64 bits have no exponent, as in JSON. */
function numberText(value: number): string {
  if (!Number.isInteger(value) || Math.abs(value) >= 1e21) return shortestFloat(value)
  const integer = BigInt(String(value))
  return integer >= -(2n ** 63n) && integer < 2n ** 64n ? integer.toString() : shortestFloat(value)
}

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ['\0', '\\0'],
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\v', '\\v'],
  ['\f', '\\f'],
  ['\r', '\\r'],
  ['\u001b', '\\e'],
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\u0085', '\\N'],
  ['\u2028', '\\L'],
  ['\u2029', '\\P'],
])

function escaped(char: string): string {
  const short = shortEscapes.get(char)
  if (short !== undefined) return short
  if (!isUnprintable(char)) return char
  const code = char.codePointAt(0) as number
  const hex = code.toString(16).toUpperCase()
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}
