import { isJsonObject } from '@krmkit/meta'
import type { ManifestDocument, TextRange } from '@krmkit/schema/manifest'
import { type ManifestObject, nameOf, objectsOf, objectText } from 'krmkit/validate'
import { type DocumentSymbol, type Range, SymbolKind } from './connection.ts'
import { toRange } from './positions.ts'

/** The objects of a text, with their members. */

/** Most symbols of one text. */
const maxSymbols = 5000

/** @param endLine number of lines of the text */
export function symbolsOf(documents: readonly ManifestDocument[], endLine: number): DocumentSymbol[] {
  const placed = documents
    .flatMap((document) => objectsOf(document).map((object) => ({ document, object, range: document.range(object.at, 'name') })))
    .slice(0, maxSymbols)
  return placed.map(({ document, object, range }, index) => {
    const end = placed[index + 1]?.range.line ?? endLine + 1
    const whole = spanOf(range, end)
    return {
      name: objectText(nameOf(object)) || 'object',
      detail: nameOf(object).apiVersion,
      kind: SymbolKind.Object,
      range: whole,
      selectionRange: toRange(range),
      children: membersOf(document, object, end),
    }
  })
}

function membersOf(document: ManifestDocument, { value, at }: ManifestObject, end: number): DocumentSymbol[] {
  if (!isJsonObject(value)) return []
  const members = Object.keys(value)
    .map((name) => ({ name, range: document.range(at === '' ? `[${name}]` : `${at}[${name}]`, 'name') }))
    .sort((a, b) => a.range.line - b.range.line || a.range.column - b.range.column)
  return members.map(({ name, range }, index) => ({
    name,
    kind: SymbolKind.Field,
    range: spanOf(range, members[index + 1]?.range.line ?? end),
    selectionRange: toRange(range),
  }))
}

/** From a range to the line before another one, but at least the range itself. */
function spanOf(range: TextRange, end: number): Range {
  const own = toRange(range)
  return end - 1 > own.end.line ? { start: own.start, end: { line: end - 1, character: 0 } } : own
}
