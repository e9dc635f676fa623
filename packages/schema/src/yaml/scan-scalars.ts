import { END, isBlank, isBlankOrEnd, isBreak, isBreakOrEnd, isDigit, SPACE, TAB } from './characters.ts'
import type { Cursor } from './cursor.ts'

/** Scans scalars: plain, quoted and block. */

export interface ScannedScalar {
  readonly text: string
  /** Offset of the first character without quotes; of the indicator for blocks. */
  readonly start: number
  /** Offset after the last character; `start` for blocks. */
  readonly end: number
}

/** Builds the text of a scalar. Consecutive line breaks are counted and joined later, because a text may have millions. */
class ScalarText {
  readonly #parts: string[] = []
  #breaks = 0

  get isEmpty(): boolean {
    return this.#parts.length === 0 && this.#breaks === 0
  }

  add(part: string): void {
    if (part === '\n') {
      this.#breaks++
      return
    }
    if (part === '') return
    this.#flush()
    this.#parts.push(part)
  }

  addAll(other: ScalarText): void {
    if (other.#parts.length > 0) {
      this.#flush()
      for (const part of other.#parts) this.#parts.push(part)
    }
    this.#breaks += other.#breaks
  }

  clear(): void {
    this.#parts.length = 0
    this.#breaks = 0
  }

  toString(): string {
    this.#flush()
    return this.#parts.length === 1 ? (this.#parts[0] as string) : this.#parts.join('')
  }

  #flush(): void {
    if (this.#breaks === 0) return
    this.#parts.push(this.#breaks === 1 ? '\n' : '\n'.repeat(this.#breaks))
    this.#breaks = 0
  }
}

/** Adds folded line breaks: a single line feed becomes a space; of several breaks the first is dropped. */
function addFold(text: ScalarText, first: string, more: ScalarText | undefined): void {
  if (first !== '\n') text.add(first)
  else if (more === undefined) text.add(' ')
  if (more !== undefined) text.addAll(more)
}

export interface PlainContext {
  /** Least column of continuation lines. */
  readonly indent: number
  /** Whether the scalar is inside a flow collection. */
  readonly flow: boolean
}

export interface PlainScalar extends ScannedScalar {
  /** Whether a line break follows. */
  readonly endsLine: boolean
}

/** @throws DecodeError `Yaml` */
export function scanPlain(cursor: Cursor, { indent, flow }: PlainContext): PlainScalar {
  const { text: source } = cursor
  const start = cursor.pos
  let lineStart = start
  let end = start
  let joined: ScalarText | undefined
  let first = ''
  let more: ScalarText | undefined
  for (;;) {
    if (cursor.atDocumentMarker() || cursor.code() === 0x23) break
    const word = cursor.pos
    cursor.pos = plainWordEnd(source, word, flow)
    if (cursor.pos > word) {
      if (first !== '') {
        joined ??= new ScalarText()
        joined.add(source.slice(lineStart, end))
        addFold(joined, first, more)
        lineStart = word
        first = ''
        more = undefined
      }
      end = cursor.pos
    }
    const code = cursor.code()
    if (!isBlank(code) && !isBreak(code)) break
    for (let next = code; ; next = cursor.code()) {
      if (isBreak(next)) {
        if (first === '') first = cursor.readBreak()
        else {
          more ??= new ScalarText()
          more.add(cursor.readBreak())
        }
      } else if (isBlank(next)) {
        if (first !== '' && next === TAB && cursor.column < indent) {
          throw cursor.error('found a tab character that violates indentation')
        }
        cursor.pos++
      } else break
    }
    if (!flow && cursor.column < indent) break
  }
  const last = source.slice(lineStart, end)
  joined?.add(last)
  return { text: joined?.toString() ?? last, start, end, endsLine: first !== '' }
}

/** End of the characters before a blank, the colon of a key, or an indicator of a flow collection. */
function plainWordEnd(source: string, from: number, flow: boolean): number {
  for (let at = from; ; at++) {
    const code = source.charCodeAt(at)
    if (isBlankOrEnd(code)) return at
    if (code === 0x3a && isBlankOrEnd(source.charCodeAt(at + 1))) return at
    if (flow && isFlowIndicator(code)) return at
  }
}

/** `,`, `?`, brackets and braces. */
function isFlowIndicator(code: number): boolean {
  return code === 0x2c || code === 0x3f || code === 0x5b || code === 0x5d || code === 0x7b || code === 0x7d
}

const backslash = 0x5c

/** Scans a scalar in single or double quotes. @throws DecodeError `Yaml` */
export function scanQuoted(cursor: Cursor): ScannedScalar {
  const { text: source } = cursor
  const quote = cursor.code()
  const single = quote === 0x27
  const start = ++cursor.pos
  let at = start
  while (isVerbatim(source.charCodeAt(at))) at++
  if (source.charCodeAt(at) === quote && !(single && source.charCodeAt(at + 1) === quote)) {
    cursor.pos = at + 1
    return { text: source.slice(start, at), start, end: at }
  }
  const text = new ScalarText()
  let from = start
  const take = (end: number) => {
    text.add(source.slice(from, end))
  }
  for (;;) {
    const code = cursor.code()
    if (code === quote) {
      if (!single || cursor.code(1) !== quote) break
      take(cursor.pos + 1)
      cursor.pos += 2
      from = cursor.pos
    } else if (code === END) {
      throw cursor.error('found unexpected end of stream')
    } else if (code === backslash && !single) {
      take(cursor.pos)
      if (isBreak(cursor.code(1))) {
        cursor.pos++
        cursor.readBreak()
        const more = skipLines(cursor)
        if (more !== undefined) text.addAll(more)
      } else {
        text.add(scanEscape(cursor))
      }
      from = cursor.pos
    } else if (isBreak(code)) {
      take(trimmedEnd(source, from, cursor.pos))
      const first = cursor.readBreak()
      addFold(text, first, skipLines(cursor))
      from = cursor.pos
    } else {
      cursor.pos++
    }
  }
  const end = cursor.pos++
  take(end)
  return { text: text.toString(), start, end }
}

/** Whether a character is neither a quote nor a backslash, a break or the end. */
function isVerbatim(code: number): boolean {
  return code !== 0x22 && code !== 0x27 && code !== backslash && !isBreakOrEnd(code)
}

/** Skips blanks and line breaks. @returns the breaks, if any. @throws DecodeError at a document marker */
function skipLines(cursor: Cursor): ScalarText | undefined {
  let breaks: ScalarText | undefined
  for (;;) {
    cursor.skipBlanks()
    if (!isBreak(cursor.code())) break
    breaks ??= new ScalarText()
    breaks.add(cursor.readBreak())
  }
  if (cursor.atDocumentMarker()) throw cursor.error('found unexpected document indicator')
  return breaks
}

function trimmedEnd(source: string, from: number, end: number): number {
  let at = end
  while (at > from && isBlank(source.charCodeAt(at - 1))) at--
  return at
}

const escapes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ 0: '\0', a: '\x07', b: '\b', t: '\t', '\t': '\t', n: '\n', v: '\v', f: '\f', r: '\r', e: '\x1b' },
    ...{ ' ': ' ', '"': '"', "'": "'", '\\': '\\', N: '\x85', _: '\xa0', L: '\u2028', P: '\u2029' },
  }),
)
const escapedDigits: ReadonlyMap<string, number> = new Map(Object.entries({ x: 2, u: 4, U: 8 }))

/** Reads an escape sequence; unlike JSON, YAML 1.1 has no escapes of slashes and surrogates. */
function scanEscape(cursor: Cursor): string {
  const name = cursor.text.charAt(cursor.pos + 1)
  const length = escapedDigits.get(name)
  const character = escapes.get(name)
  if (character === undefined && length === undefined) throw cursor.error('found unknown escape character')
  cursor.pos += 2
  if (length === undefined) return character as string
  const digits = cursor.text.slice(cursor.pos, cursor.pos + length)
  if (digits.length < length || !/^[0-9a-fA-F]+$/.test(digits)) throw cursor.error('did not find expected hexdecimal number')
  const value = Number.parseInt(digits, 16)
  if ((value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff) {
    throw cursor.error('found invalid Unicode character escape code')
  }
  cursor.pos += length
  return String.fromCodePoint(value)
}

/** Scans a literal (`|`) or folded (`>`) block. @param parentIndent of the collection around it. @throws DecodeError `Yaml` */
export function scanBlock(cursor: Cursor, parentIndent: number): ScannedScalar {
  const start = cursor.pos
  const literal = cursor.code() === 0x7c
  cursor.pos++
  const { chomping, increment } = scanBlockHeader(cursor)
  const block: Block = {
    indent: increment === 0 ? 0 : Math.max(parentIndent, 0) + increment,
    least: Math.max(parentIndent + 1, 1),
    breaks: new ScalarText(),
  }
  skipBlockBreaks(cursor, block)
  const text = new ScalarText()
  let lineBreak = ''
  let afterBlank = false
  while (cursor.column === block.indent && cursor.code() !== END) {
    const blank = isBlank(cursor.code())
    if (literal || afterBlank || blank || lineBreak !== '\n') text.add(lineBreak)
    else if (block.breaks.isEmpty) text.add(' ')
    text.addAll(block.breaks)
    block.breaks.clear()
    afterBlank = blank
    const from = cursor.pos
    cursor.skipLine()
    text.add(cursor.text.slice(from, cursor.pos))
    lineBreak = isBreak(cursor.code()) ? cursor.readBreak() : ''
    skipBlockBreaks(cursor, block)
  }
  if (chomping !== '-') text.add(lineBreak)
  if (chomping === '+') text.addAll(block.breaks)
  return { text: text.toString(), start, end: start }
}

interface BlockHeader {
  readonly chomping: '' | '+' | '-'
  readonly increment: number
}

function scanBlockHeader(cursor: Cursor): BlockHeader {
  let chomping: BlockHeader['chomping'] = ''
  let increment = 0
  for (let at = 0; at < 2; at++) {
    const code = cursor.code()
    if (chomping === '' && (code === 0x2b || code === 0x2d)) chomping = code === 0x2b ? '+' : '-'
    else if (increment === 0 && isDigit(code)) {
      if (code === 0x30) throw cursor.error('found an indentation indicator equal to 0')
      increment = code - 0x30
    } else break
    cursor.pos++
  }
  cursor.skipBlanks()
  cursor.skipComment()
  if (!isBreakOrEnd(cursor.code())) throw cursor.error('did not find expected comment or line break')
  if (cursor.code() !== END) cursor.readBreak()
  return { chomping, increment }
}

interface Block {
  /** Column of the text; 0 until the first line with text determines it. */
  indent: number
  /** Least possible indent. */
  readonly least: number
  /** Breaks since the last line with text. */
  readonly breaks: ScalarText
}

/** Skips indentation and empty lines; determines the indentation unless it is known. */
function skipBlockBreaks(cursor: Cursor, block: Block): void {
  const { indent } = block
  let deepest = 0
  for (;;) {
    while ((indent === 0 || cursor.column < indent) && cursor.code() === SPACE) cursor.pos++
    deepest = Math.max(deepest, cursor.column)
    if ((indent === 0 || cursor.column < indent) && cursor.code() === TAB) {
      throw cursor.error('found a tab character where an indentation space is expected')
    }
    if (!isBreak(cursor.code())) break
    block.breaks.add(cursor.readBreak())
  }
  if (indent === 0) block.indent = Math.max(deepest, block.least)
}
