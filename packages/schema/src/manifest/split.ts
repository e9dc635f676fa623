/** Splits a text into documents as kubectl does: at lines that start with `---`. */

export interface ManifestChunk {
  /** Without the separators around it and without a byte order mark. */
  readonly text: string
  /** Offset in the whole text, and number of lines before it. */
  readonly start: number
  readonly line: number
  /** Whether a separator follows. */
  readonly separated: boolean
}

/** A separator with content other than a comment on its line, which kubectl rejects. */
export interface BadSeparator {
  readonly badSeparator: string
  readonly line: number
  /** Offset of that content in the line. */
  readonly column: number
}

/**
 * Documents with content other than comments, in order. Directives are separated from their document, so they form a
 * separate document, which the parser rejects.
 */
export function splitManifest(text: string): (ManifestChunk | BadSeparator)[] {
  const found: (ManifestChunk | BadSeparator)[] = []
  const boundary = /(?<![^\n])(?:---([^\n]*)\n?|\.\.\.(?=[ \t\r\n]|$))/g
  let counted = 0
  let line = 0
  const lineOf = (offset: number) => {
    line += breaksBetween(text, counted, offset)
    counted = offset
    return line
  }
  let start = 0
  let content = afterSeparator
  for (let match = boundary.exec(text); ; match = boundary.exec(text)) {
    const end = match?.index ?? text.length
    if (text.charCodeAt(start) === 0xfeff) start++
    const chunk = text.slice(start, end)
    if (content.test(chunk)) found.push({ text: chunk, start, line: lineOf(start), separated: match !== null })
    if (match === null) return found
    const rest = match[1] ?? ''
    if (/^\s*[^\s#]/.test(rest)) {
      found.push({ badSeparator: rest.trim(), line: lineOf(end), column: 3 + rest.search(/\S/) })
    }
    start = boundary.lastIndex
    content = match[1] === undefined ? afterEnd : afterSeparator
  }
}

const afterSeparator = /^[^\S\r\n]*[^\s#]/m
/** Matches content after a `...` line, except directives, which belong to the next document. */
const afterEnd = /^[^\S\r\n]*[^\s#%]/m

/** Whether a text may be JSON: it starts with a brace. */
export function opensJson(text: string): boolean {
  return /^\s*\{/.test(text)
}

/** Number of line feeds from an offset up to another one. */
export function breaksBetween(text: string, from: number, to: number): number {
  let count = 0
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count++
  return count
}
