import type { DecodeError } from '../schema-error.ts'
import { isBlank, isBlankOrEnd, isBreakOrEnd, LINE_FEED, SPACE } from './characters.ts'
import { type TextMark, yamlErrorAt } from './yaml-error.ts'

/** An invalid character that limits how far a text can be read. */
export interface UnreadableText {
  /** Start of the input block that contains the invalid character; the block cannot be read. */
  readonly from: number
  readonly error: DecodeError
}

/** Position in a text, with its line. */
export class Cursor {
  readonly text: string
  pos = 0
  line = 0
  lineStart = 0
  readonly #unreadable: UnreadableText | undefined

  /** @param text ends with a NUL. */
  constructor(text: string, unreadable: UnreadableText | undefined) {
    this.text = text
    this.#unreadable = unreadable
  }

  get column(): number {
    return this.pos - this.lineStart
  }

  mark(): TextMark {
    return { line: this.line, column: this.column }
  }

  code(ahead = 0): number {
    return this.text.charCodeAt(this.pos + ahead)
  }

  /** Consumes a line break. @returns its normalized form */
  readBreak(): string {
    const { text, pos } = this
    const code = text.charCodeAt(pos)
    this.pos += code === 0x0d && text.charCodeAt(pos + 1) === LINE_FEED ? 2 : 1
    this.lineStart = this.pos
    this.line++
    return code === 0x2028 ? '\u2028' : code === 0x2029 ? '\u2029' : '\n'
  }

  skipSpaces(): void {
    while (this.text.charCodeAt(this.pos) === SPACE) this.pos++
  }

  skipBlanks(): void {
    while (isBlank(this.text.charCodeAt(this.pos))) this.pos++
  }

  /** Skips a comment up to the end of the line. */
  skipComment(): void {
    if (this.text.charCodeAt(this.pos) !== 0x23) return
    this.skipLine()
  }

  /** Skips to the line break. */
  skipLine(): void {
    while (!isBreakOrEnd(this.text.charCodeAt(this.pos))) this.pos++
  }

  /** Whether a line starts with `---` or `...` here. */
  atDocumentMarker(): boolean {
    if (this.pos !== this.lineStart) return false
    const { text, pos } = this
    const code = text.charCodeAt(pos)
    if (code !== 0x2d && code !== 0x2e) return false
    return text.charCodeAt(pos + 1) === code && text.charCodeAt(pos + 2) === code && isBlankOrEnd(text.charCodeAt(pos + 3))
  }

  /** @throws DecodeError when the next `ahead` characters are not readable. */
  ensureReadable(ahead: number): void {
    if (this.#unreadable !== undefined && this.pos + ahead > this.#unreadable.from) throw this.#unreadable.error
  }

  /** Creates the error of a malformed token at this position. */
  error(problem: string): DecodeError {
    this.ensureReadable(1)
    return yamlErrorAt(problem, this.mark(), 'malformed')
  }
}
