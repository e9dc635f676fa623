/** Values as pseudo-Go syntax, in the detail that is left for them. */

import type { Work } from '@krmkit/base/work'
import { utf8Length } from '@krmkit/meta/go-text'
import { bytesOf, quoteBytes, quoteText } from './byte-text.ts'
import type { GoType } from './go-types.ts'
import { type GoValue, isZero, quantityOf } from './go-value.ts'
import type { Meter } from './meter.ts'
import { ellipsis, isWrap, sameText, type TextNode, type TextRecord, wrap } from './text-node.ts'
import { isTripleLine, tripleQuotes } from './triple-quotes.ts'
import { missing, type Side } from './value-node.ts'

/** What is shown of two values: both, what they have in common, or one of them. */
export type View = 'difference' | 'common' | 'removed' | 'inserted'

/** Which types are printed: that of every value, none, or those of structs, lists and maps. */
export type TypeView = 'always' | 'never' | 'composite'

export interface Format {
  readonly view: View
  readonly types: TypeView
  /** Ignores methods `String`. */
  readonly isLiteral: boolean
  /** Detail left; each level of values takes one. */
  readonly detail: number
}

/** Detail between 0 and 16. */
export function boundedDetail({ detail }: Format): number {
  return Math.min(16, Math.max(0, detail))
}

/** Number of parts shown of a value: 0, 4, 8, 16... */
export function shownParts(format: Format): number {
  return Math.floor(2 ** boundedDetail(format) / 2) * 4
}

/** Prints one value; nothing for a missing one. */
export function* valueText(type: GoType, value: Side, format: Format, meter: Meter): Work<TextNode | undefined> {
  return value === missing ? undefined : yield* presentText(type, value, format, meter)
}

function* presentText(type: GoType, value: GoValue, format: Format, meter: Meter): Work<TextNode> {
  if (meter.isDue()) yield
  if (type.isStringer && !format.isLiteral) return yield* stringText('s', methodText(type, value), { format, meter })
  if (type.kind !== 'pointer' || value === undefined)
    return withType(type, yield* literalText(type, value, format, meter), format)
  const method = format.isLiteral ? undefined : pointerMethods[type.element.name]
  if (method !== undefined) return yield* stringText('s', method(value), { format, meter })
  return wrap('&', yield* presentText(type.element, value, format, meter))
}

type Fields = readonly GoValue[]

/** Methods `String` of pointers to these types. */
const pointerMethods: Readonly<Record<string, (value: GoValue) => string>> = {
  'resource.Quantity': (value) => quantityOf(value).toString(),
  'v1.Time': (value) => timeText((value as Fields)[0]),
  'v1.LabelSelector': (value) => selectorText(value as Fields),
}

function selectorText([labels, expressions]: Fields): string {
  const entries = [...((labels ?? new Map()) as ReadonlyMap<string, GoValue>)].map(([key, value]) => `${key}: ${value},`)
  const items = ((expressions ?? []) as readonly Fields[]).map(([key, operator, values]) => {
    const list = ((values ?? []) as Fields).join(' ')
    return `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${list}],},`
  })
  const members = `MatchLabels:map[string]string{${entries.join('')}},MatchExpressions:[]LabelSelectorRequirement{${items.join('')}},`
  return `&LabelSelector{${members}}`
}

/** What the method `String` returns. */
function methodText(type: GoType, value: GoValue): string {
  if (type.kind === 'string') return String(value)
  return timeText(type.kind === 'instant' ? value : (value as Fields)[0])
}

function timeText(instant: GoValue): string {
  const time = instant === '' ? '0001-01-01T00:00:00Z' : String(instant)
  return `${time.slice(0, 10)} ${time.slice(11, -1)} +0000 UTC`
}

function* literalText(type: GoType, value: GoValue, format: Format, meter: Meter): Work<TextNode> {
  if (type.kind === 'string') return yield* stringText('', String(value), { format, meter })
  if (value === undefined) return 'nil'
  if (typeof value !== 'object') return String(value)
  const list: TextRecord[] = []
  const limit = shownParts(format)
  const types = type.kind === 'slice' || type.kind === 'map' ? 'never' : 'composite'
  const next: Format = { ...format, types, detail: format.detail - 1 }
  for (const [key, part, partType] of partsOf(type, value)) {
    if (types === 'composite' && isZero(partType, part)) continue
    if (list.length === limit) {
      list.push({ value: ellipsis, elidesComma: true })
      break
    }
    list.push({ key, value: yield* presentText(partType, part, next, meter) })
  }
  return wrap('{', list, '}')
}

/** Fields, items or entries of a value. */
function* partsOf(type: GoType, value: object): Generator<readonly [key: string, value: GoValue, type: GoType]> {
  if (type.kind === 'map')
    for (const [key, entry] of value as ReadonlyMap<string, GoValue>) yield [keyText(type.key, key), entry, type.element]
  else if (type.kind === 'slice') for (const item of value as readonly GoValue[]) yield ['', item, type.element]
  else for (const [i, field] of type.fields.entries()) yield [field.name, (value as readonly GoValue[])[i], field.type]
}

/** Detail of keys. */
const keyFormat: Format = { view: 'common', types: 'never', isLiteral: false, detail: 6 }

/** A key of a map, always one line. */
export function keyText(type: GoType, key: string): string {
  return quotedText(type.isStringer ? 's' : '', key, keyFormat)
}

/** A string: in quotes, or lines between triple quotes where it is removed or inserted and has at least four. */
export function* stringText(
  prefix: string,
  text: string,
  { format, meter }: { readonly format: Format; readonly meter: Meter },
): Work<TextNode> {
  const maxLength = 2 ** boundedDetail(format) * 32
  const maxLines = 2 ** boundedDetail(format) * 4
  if (format.view === 'removed' || format.view === 'inserted') {
    const lines = text.replace(/\n$/, '').split('\n')
    let isTriple = lines.length >= 4
    for (const [i, line] of lines.entries()) {
      if (!isTriple) break
      if (meter.isDue()) yield
      const bare = line.replace(/\r$/, '').replace(/^\r/, '')
      lines[i] = bare
      isTriple = isTripleLine(bare, prefix) && utf8Length(bare) <= maxLength
    }
    if (isTriple) return tripleQuotes(prefix, shownLines(lines, maxLines), format.view === 'removed' ? '-' : '+')
  }
  return quotedText(prefix, text, format)
}

/** A string in quotes, cut to the length of the format. */
function quotedText(prefix: string, text: string, format: Format): string {
  const maxLength = 2 ** boundedDetail(format) * 32
  if (text.length <= maxLength / 3) return prefix + quoteText(text)
  const bytes = bytesOf(text)
  if (bytes.length <= maxLength + ellipsis.length) return prefix + quoteText(text)
  return prefix + quoteBytes(bytes.subarray(0, maxLength)) + ellipsis
}

function shownLines(lines: readonly string[], max: number): TextRecord[] {
  const shown: TextRecord[] = []
  for (const [i, line] of lines.entries()) {
    const left = lines.length - i
    if (i === max - 1 && left > 1) {
      shown.push({ value: ellipsis, elidesComma: true, comment: `${left} elided lines` })
      break
    }
    shown.push({ value: line, elidesComma: true })
  }
  return shown
}

/** Prints the type before a value, where the format says so. */
export function withType(type: GoType, text: TextNode, { types, view }: Format): TextNode {
  if (types === 'never') return text
  if (types === 'composite') {
    const isComposite =
      type.kind === 'struct' ||
      type.kind === 'quantity' ||
      type.kind === 'instant' ||
      type.kind === 'slice' ||
      type.kind === 'map'
    if (!isComposite || sameText(text, 'nil') || view === 'common') return text
  }
  return wrap(type.kind === 'pointer' ? `(${type.name})` : type.name, inParentheses(text))
}

/** A text in parentheses, unless parentheses or braces enclose it. */
function inParentheses(text: TextNode): TextNode {
  const isEnclosed =
    isWrap(text) &&
    ((text.prefix.startsWith('(') && text.suffix.endsWith(')')) || (text.prefix.startsWith('{') && text.suffix.endsWith('}')))
  return isEnclosed ? text : wrap('(', text, ')')
}
