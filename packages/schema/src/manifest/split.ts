/** Splits a text into YAML documents. */

export interface YamlChunk {
  /** Starts with the document marker, if any. */
  readonly text: string
  /** Number of lines before it. */
  readonly line: number
}

/** Documents with content other than comments. Directives stay with the following document. */
export function splitYaml(text: string): YamlChunk[] {
  const chunks: YamlChunk[] = []
  const marker = /^(?:---|\.\.\.)(?=[ \t\r\n]|$)/gm
  let start = 0
  let counted = 0
  let line = 0
  const take = (end: number) => {
    const chunk = text.slice(start, end)
    if (!hasContent(chunk)) return false
    line += breaksBetween(text, counted, start)
    counted = start
    chunks.push({ text: chunk, line })
    return true
  }
  for (let match = marker.exec(text); match !== null; match = marker.exec(text)) {
    const taken = take(match.index)
    if (match[0] === '...') start = marker.lastIndex
    else if (taken || !/^%/m.test(text.slice(start, match.index))) start = match.index
  }
  take(text.length)
  return chunks
}

function hasContent(chunk: string): boolean {
  return /^[^\S\r\n]*[^\s#%]/m.test(chunk.replace(/^---/, ''))
}

function breaksBetween(text: string, from: number, to: number): number {
  let count = 0
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count++
  return count
}
