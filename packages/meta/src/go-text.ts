/**
 * How Go prints a value, as far as messages that clients read contain such text.
 */

/** Text that is printed as it stands where a message prints a value: for values whose Go form no JSON value can say. */
export class GoText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  toString(): string {
    return this.text
  }
}

/** Marks `text` as already being in Go's form, such as `intstr.IntOrString{Type:0, IntVal:1, StrVal:""}`. */
export function goText(text: string): GoText {
  return new GoText(text)
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

/** Whether Go's `unicode.IsPrint` holds: letters, marks, numbers, punctuation, symbols and the ASCII space. */
export function isPrintable(char: string): boolean {
  return printable.test(char)
}

/** The text in double quotes as Go's `%q` prints it. */
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
 * Characters of a value that a message shows; what is longer is cut. Differs: the stock server prints all of it, as often as the
 * value has faults.
 */
export const maxPrintedLength = 16 * 1024

/** Text in double quotes, cut when it is very long. */
export function goQuoteShort(text: string): string {
  if (text.length <= maxPrintedLength) return goQuote(text)
  return `${goQuote(text.slice(0, maxPrintedLength))}... (${text.length} characters)`
}

/** Text that is in Go's form already, cut when it is very long. */
export function shortText(text: string): string {
  return text.length <= maxPrintedLength ? text : `${text.slice(0, maxPrintedLength)}...`
}

/** Joins what `print` makes of the items, and stops once that is longer than a message shows. */
export function joinPrinted<T>(items: Iterable<T>, print: (item: T) => string): string {
  let text = ''
  let separator = ''
  for (const item of items) {
    text += separator + print(item)
    separator = ', '
    if (text.length > maxPrintedLength) return `${text.slice(0, maxPrintedLength)}...`
  }
  return text
}

/** A list of strings as Go's `%#v` prints it: `[]string{"a", "b"}`. */
export function goStrings(list: readonly string[]): string {
  return `[]string{${joinPrinted(list, goQuoteShort)}}`
}

/** A value that came from JSON without a type, as Go's `%#v` prints it: `map[string]interface {}{"a":1}`. */
export function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (typeof value === 'string') return goQuoteShort(value)
  if (typeof value === 'number') return goFloat(value)
  if (typeof value !== 'object') return String(value)
  if (value instanceof GoText) return value.text
  if (Array.isArray(value)) return `[]interface {}{${joinPrinted(value, goSyntax)}}`
  const members = value as Record<string, unknown>
  const print = (key: string) => `${goQuoteShort(key)}:${goSyntax(members[key])}`
  return `map[string]interface {}{${joinPrinted(Object.keys(value).sort(compareCodePoints), print)}}`
}

/** A number as Go's `%v` prints it: an exponent of at least two digits, used below 1e-4 and from 1e21 on. */
export function goFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (Number.isInteger(value) && Math.abs(value) < 1e21) return String(value)
  const magnitude = Math.abs(value)
  const text = magnitude < 1e-4 || magnitude >= 1e21 ? value.toExponential() : String(value)
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
}

/** Bytes of the text in UTF-8, which is what Go's `len` counts. */
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

/** Orders strings as Go does, by their UTF-8 bytes; the default order of JavaScript differs beyond U+FFFF. */
export function compareCodePoints(a: string, b: string): number {
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
