export { shortestFloat, shortestFloat32 } from './go-float.ts'

/** Go's formatting of values, for messages that clients receive. */

/** Text printed verbatim in place of a value, for values whose Go form cannot be derived from JSON. */
export class GoText {
  readonly text: string
  /** The value as JSON, which releases from 1.34 on print. Absent: what {@link text} says, as JSON. */
  readonly json: string | undefined

  constructor(text: string, json?: string) {
    this.text = text
    this.json = json
  }

  toString(): string {
    return this.text
  }
}

/**
 * Marks `text` as Go syntax, such as `intstr.IntOrString{Type:0, IntVal:1, StrVal:""}`.
 *
 * @param json the value as JSON, where the text does not say it all: releases from 1.34 on print it instead.
 * @example
 * import { goText } from '@krmkit/meta/go-text'
 * String(goText('[]byte{0x1}')) // '[]byte{0x1}'
 */
export function goText(text: string, json?: string): GoText {
  return new GoText(text, json)
}

/**
 * Joins error messages as Go prints an aggregate of errors: each once, in brackets unless there is only one.
 *
 * @example
 * import { aggregateMessages } from '@krmkit/meta/go-text'
 * aggregateMessages(['a', 'b', 'a']) // '[a, b]'
 * aggregateMessages(['a']) // 'a'
 */
export function aggregateMessages(messages: Iterable<string>): string {
  const joined = [...new Set(messages)]
  return joined.length === 1 ? (joined[0] ?? '') : `[${joined.join(', ')}]`
}

const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u
const plain = /^[ !#-[\]-~]*$/
const escapes: Readonly<Record<number, string>> = {
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
  34: '\\"',
  92: '\\\\',
}

/**
 * Go's `unicode.IsPrint`: letters, marks, numbers, punctuation, symbols and the ASCII space.
 *
 * @example
 * import { isPrintable } from '@krmkit/meta/go-text'
 * isPrintable('é') // true
 * isPrintable('\n') // false
 */
export function isPrintable(char: string): boolean {
  return printable.test(char)
}

/**
 * Go's `strings.TrimSpace`. Unlike `trim()` it removes U+0085 and keeps U+FEFF.
 *
 * @example
 * import { trimSpace } from '@krmkit/meta/go-text'
 * trimSpace(' a\u0085') // 'a'
 */
export function trimSpace(text: string): string {
  if (!special.test(text)) return text.trim()
  let start = 0
  let end = text.length
  while (start < end && isSpace(text[start])) start++
  while (end > start && isSpace(text[end - 1])) end--
  return text.slice(start, end)
}

/**
 * Go's `strings.TrimRight` for one character, in linear time. A pattern such as `/\/+$/` takes quadratic time, because it
 * tries every run of that character.
 *
 * @example
 * import { trimRight } from '@krmkit/meta/go-text'
 * trimRight('/var//', '/') // '/var'
 */
export function trimRight(text: string, char: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === char) end--
  return text.slice(0, end)
}

const special = /[\u0085\ufeff]/

function isSpace(char: string | undefined): boolean {
  return char === '\u0085' || (char !== '\ufeff' && char?.trim() === '')
}

/**
 * Quotes text like Go's `%q`.
 *
 * @example
 * import { goQuote } from '@krmkit/meta/go-text'
 * goQuote('a "b"\n') // '"a \\"b\\"\\n"'
 */
export function goQuote(text: string): string {
  if (plain.test(text)) return `"${text}"`
  let out = '"'
  for (const char of text) {
    const code = char.codePointAt(0) as number
    const escaped = escapes[code]
    if (escaped !== undefined) out += escaped
    else if (code >= 0xd800 && code <= 0xdfff) out += '\ufffd'
    else if (printable.test(char)) out += char
    else if (code < 0x20 || code === 0x7f) out += `\\x${hex(code, 2)}`
    else if (code < 0x10000) out += `\\u${hex(code, 4)}`
    else out += `\\U${hex(code, 8)}`
  }
  return `${out}"`
}

/**
 * Maximum length of values in messages, in characters; longer ones are truncated. Differs: kube-apiserver prints all of them,
 * once per error.
 */
export const maxPrintedLength = 16 * 1024

/**
 * Quotes text, truncated when very long.
 *
 * @example
 * import { goQuoteShort } from '@krmkit/meta/go-text'
 * goQuoteShort('web') // '"web"'
 * goQuoteShort('x'.repeat(100_000)).length < 20_000 // true
 * @see {@link goQuote}
 */
export function goQuoteShort(text: string): string {
  if (text.length <= maxPrintedLength) return goQuote(text)
  return `${goQuote(text.slice(0, maxPrintedLength))}... (${text.length} characters)`
}

/** Truncates very long text in Go syntax. @see {@link goQuoteShort} */
export function truncateGoText(text: string): string {
  return text.length <= maxPrintedLength ? text : `${text.slice(0, maxPrintedLength)}...`
}

/**
 * Joins formatted items, and stops when the result exceeds the length of a message.
 *
 * @example
 * import { joinFormatted } from '@krmkit/meta/go-text'
 * joinFormatted([1, 255], (byte) => `0x${byte.toString(16)}`) // '0x1, 0xff'
 */
export function joinFormatted<T>(items: Iterable<T>, print: (item: T) => string, between = ', '): string {
  let text = ''
  let separator = ''
  for (const item of items) {
    text += separator + print(item)
    separator = between
    if (text.length > maxPrintedLength) return `${text.slice(0, maxPrintedLength)}...`
  }
  return text
}

/**
 * Formats a list of strings like Go's `%#v`: `[]string{"a", "b"}`.
 *
 * @example
 * import { goStrings } from '@krmkit/meta/go-text'
 * goStrings(['a', 'b']) // '[]string{"a", "b"}'
 */
export function goStrings(list: readonly string[]): string {
  return `[]string{${joinFormatted(list, goQuoteShort)}}`
}

/**
 * Formats an untyped JSON value like Go's `%#v`: `map[string]interface {}{"a":1}`.
 *
 * @example
 * import { goSyntax } from '@krmkit/meta/go-text'
 * goSyntax({ a: [1] }) // 'map[string]interface {}{"a":[]interface {}{1}}'
 */
export function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (typeof value === 'string') return goQuoteShort(value)
  if (typeof value === 'number') return goNumber(value)
  if (typeof value !== 'object') return String(value)
  if (value instanceof GoText) return value.text
  if (Array.isArray(value)) return `[]interface {}{${joinFormatted(value, goSyntax)}}`
  const members = value as Record<string, unknown>
  const print = (key: string) => `${goQuoteShort(key)}:${goSyntax(members[key])}`
  return `map[string]interface {}{${joinFormatted(Object.keys(value).sort(compareCodePoints), print)}}`
}

/**
 * Formats a float64 like Go's `%v`: an exponent of at least two digits below 1e-4 and from 1e6 up.
 *
 * @example
 * import { goFloat } from '@krmkit/meta/go-text'
 * goFloat(1e6) // '1e+06'
 * goFloat(0.5) // '0.5'
 */
export function goFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  const magnitude = Math.abs(value)
  const text = magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 1e6) ? value.toExponential() : String(value)
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
}

/**
 * Formats a JSON number like Go's `%v`: safe integers have all their digits, others are a float64. Larger integers are bigints.
 *
 * @example
 * import { goNumber } from '@krmkit/meta/go-text'
 * goNumber(1e6) // '1000000'
 * goNumber(1e20) // '1e+20'
 */
export function goNumber(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : goFloat(value)
}

/**
 * Length in UTF-8 bytes, like Go's `len`.
 *
 * @example
 * import { utf8Length } from '@krmkit/meta/go-text'
 * utf8Length('é') // 2
 */
export function utf8Length(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    if (unit < 0x800) bytes += 1
    else if (unit >= 0xd800 && unit <= 0xdbff && isLowSurrogate(text.charCodeAt(i + 1))) {
      bytes += 2
      i++
    } else bytes += 2
  }
  return bytes
}

/**
 * Compares strings by UTF-8 bytes like Go; JavaScript's default order differs above U+FFFF.
 *
 * @example
 * import { compareCodePoints } from '@krmkit/meta/go-text'
 * ['b', 'a', 'B'].sort(compareCodePoints) // [ 'B', 'a', 'b' ]
 */
export function compareCodePoints(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    let x = a.charCodeAt(i)
    let y = b.charCodeAt(i)
    if (x === y) continue
    if (x >= 0xd800 && y >= 0xd800) {
      x += x >= 0xe000 ? -0x800 : 0x2000
      y += y >= 0xe000 ? -0x800 : 0x2000
    }
    return x - y
  }
  return a.length - b.length
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

function hex(code: number, width: number): string {
  return code.toString(16).padStart(width, '0')
}
