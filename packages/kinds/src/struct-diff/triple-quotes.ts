/** Strings of many lines as the lines themselves, between triple quotes. */

import { ellipsis, type Mark, type TextRecord, type TextWrap, wrap } from './text-node.ts'

const quotes = '"""'

/** Characters of which Go's `unicode.IsPrint` holds, and tabs. */
const visibleLine = /^[\p{L}\p{M}\p{N}\p{P}\p{S} \t]*$/u

/** Whether a line can stand between triple quotes: no reader takes it for a quote or an ellipsis, and all of it is seen. */
export function isTripleLine(line: string, prefix = ''): boolean {
  if (line.startsWith(ellipsis)) return false
  const bare = prefix !== '' && line.startsWith(prefix) ? line.slice(prefix.length) : line
  if (bare.startsWith(quotes)) return false
  return visibleLine.test(line)
}

/** @param mark that of every line; absent: the lines have theirs */
export function tripleQuotes(prefix: string, lines: readonly TextRecord[], mark?: Mark): TextWrap {
  const marked = mark === undefined ? {} : { mark }
  const quote: TextRecord = { ...marked, value: prefix + quotes, elidesComma: true }
  return wrap('(', [quote, ...lines.map((line) => ({ ...line, ...marked })), quote], ')')
}
