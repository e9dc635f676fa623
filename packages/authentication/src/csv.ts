/** A record, and the line that it starts on, from 1. */
export interface CsvRecord {
  readonly fields: readonly string[]
  readonly line: number
}

/** A CSV syntax error with its line. */
export class CsvSyntaxError extends Error {
  override readonly name = 'CsvSyntaxError'
  readonly line: number

  constructor(line: number, message: string) {
    super(`line ${line}: ${message}`)
    this.line = line
  }
}

/**
 * Parses comma-separated values. Quoted fields may hold commas, line breaks and doubled quotes; empty lines are skipped; spaces belong to
 * their field; records may differ in length.
 *
 * @see RFC 4180
 * @throws CsvSyntaxError for a quote inside an unquoted field, text after a closing quote, or an unterminated quote.
 */
export function parseCsv(text: string): CsvRecord[] {
  const records: CsvRecord[] = []
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0
  let line = 1
  while (at < text.length) {
    if (text[at] === '\n' || (text[at] === '\r' && text[at + 1] === '\n')) {
      at += text[at] === '\n' ? 1 : 2
      line++
      continue
    }
    const fields: string[] = []
    const first = line
    for (;;) {
      const field = text[at] === '"' ? quoted(text, at, line) : plain(text, at, line)
      fields.push(field.value)
      at = field.end
      line = field.line
      if (text[at] !== ',') break
      at++
    }
    records.push({ fields, line: first })
    if (text[at] === '\r' && text[at + 1] === '\n') at++
    if (text[at] === '\n') at++
    line++
  }
  return records
}

interface FieldEnd {
  readonly value: string
  readonly end: number
  readonly line: number
}

function plain(text: string, start: number, line: number): FieldEnd {
  let end = start
  while (end < text.length && text[end] !== ',' && text[end] !== '\n') {
    if (text[end] === '"') throw new CsvSyntaxError(line, 'a quote inside an unquoted field')
    end++
  }
  const stop = text[end] === '\n' && end > start && text[end - 1] === '\r' ? end - 1 : end
  return { value: text.slice(start, stop), end: stop, line }
}

function quoted(text: string, start: number, line: number): FieldEnd {
  let value = ''
  let from = start + 1
  let at = from
  let now = line
  for (;;) {
    if (at >= text.length) throw new CsvSyntaxError(line, 'a quoted field without its closing quote')
    if (text[at] === '\n') now++
    if (text[at] !== '"') {
      at++
      continue
    }
    value += text.slice(from, at)
    if (text[at + 1] !== '"') break
    value += '"'
    at += 2
    from = at
  }
  at++
  const next = text[at]
  const ends = next === undefined || next === ',' || next === '\n' || (next === '\r' && text[at + 1] === '\n')
  if (!ends) throw new CsvSyntaxError(now, 'text after the closing quote of a field')
  return { value, end: at, line: now }
}
