/** Syntax of JSON paths as kubectl and the stock server read them: `spec.validations[0].expression`, `.items[?(@.name=="a")]`. */
import { isPrintable, trimRight } from '@krmkit/meta/go-text'

/**
 * The problem of the first malformed part of a path, in the words of the stock server.
 *
 * @param path without the braces that templates have around it
 * @returns undefined for a well-formed path.
 */
export function jsonPathProblem(path: string): string | undefined {
  try {
    new Reader(`{${path}}`).template()
    return undefined
  } catch (error) {
    if (error instanceof SyntaxProblem) return error.message
    throw error
  }
}

class SyntaxProblem extends Error {}

const endOfText = ''
const comparison = /^([^!<>=]+)([!<>=]+)(.+?)$/
const quotedKey = /^'([^']*)'$/
const slice = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/
const number = /^[+-]?(\d+\.?\d*|\.\d+)$/

class Reader {
  readonly #text: string
  #at = 0
  /** Start of the part that is read. */
  #start = 0
  /** Whether the last part was `..`. */
  #recursive = false

  constructor(text: string) {
    this.#text = text
  }

  /** Text with paths in braces. */
  template(): void {
    for (;;) {
      const brace = this.#text.indexOf('{', this.#at)
      if (brace < 0) return
      this.#at = brace + 1
      this.#recursive = false
      this.#path()
    }
  }

  #path(): void {
    for (;;) {
      this.#start = this.#at
      if (this.#take('}')) return
      if (this.#take('[?(')) this.#filter()
      else if (this.#take('..')) {
        if (this.#recursive) throw new SyntaxProblem('invalid multiple recursive descent')
        this.#recursive = true
        if (isWordCharacter(this.#peek())) this.#field()
      } else this.#part()
    }
  }

  #part(): void {
    const char = this.#next()
    if (char === endOfText || char === '\r' || char === '\n') throw new SyntaxProblem('unclosed action')
    if (char === ' ' || char === '@' || char === '$') return
    if (char === '[') this.#brackets()
    else if (char === '"' || char === "'") this.#quoted(char)
    else if (char === '.') this.#field()
    else if (char === '+' || char === '-' || isDigit(char)) this.#number()
    else if (isWordCharacter(char)) while (!isEnd(this.#peek())) this.#next()
    else throw new SyntaxProblem(`unrecognized character in action: ${codePoint(char)}`)
    this.#recursive = false
  }

  /** A name, up to the next character that ends it and has no backslash before it. */
  #field(): void {
    this.#recursive = false
    while (!isEnd(this.#peek())) if (this.#next() === '\\') this.#next()
  }

  #number(): void {
    while (this.#peek() === '.' || isDigit(this.#peek())) this.#next()
    const text = this.#text.slice(this.#start, this.#at)
    if (!number.test(text) || !Number.isFinite(Number(text))) throw new SyntaxProblem(`cannot parse number ${text}`)
  }

  #brackets(): void {
    const inside = this.#until(']', 'unterminated array')
    const text = inside === '*' ? ':' : inside
    const parts = text.split(',')
    const key = quotedKey.exec(text)?.[1]
    if (parts.length > 1) for (const part of parts) inner(`[${trimRight(part.replace(/^ +/, ''), ' ')}]`)
    else if (key !== undefined) inner(`.${key}`)
    else checkIndices(text)
  }

  /** The text up to a character on the same line, which is taken. */
  #until(end: string, problem: string): string {
    const from = this.#at
    for (;;) {
      const char = this.#next()
      if (char === endOfText || char === '\n') throw new SyntaxProblem(problem)
      if (char === end) return this.#text.slice(from, this.#at - 1)
    }
  }

  #quoted(quote: string): void {
    do this.#until(quote, 'unterminated quoted string')
    while (this.#text[this.#at - 2] === '\\')
    const text = this.#text.slice(this.#start, this.#at)
    if (!isQuotable(text.slice(1, -1), quote)) throw new SyntaxProblem(`unquote string ${text} error invalid syntax`)
  }

  /** `[?(` … `)]`; a quoted text in it may contain parentheses. */
  #filter(): void {
    const from = this.#at
    let quote: string | undefined
    let closed = false
    for (;;) {
      const char = this.#next()
      if (char === endOfText || char === '\n') throw new SyntaxProblem('unterminated filter')
      if (char === ')' && (quote === undefined || closed)) break
      if (char !== '"' && char !== "'") continue
      if (quote === undefined) quote = char
      else if (char === quote && this.#text[this.#at - 2] !== '\\') closed = true
    }
    if (this.#next() !== ']') throw new SyntaxProblem('unclosed array expect ]')
    const text = this.#text.slice(from, this.#at - 2)
    const [, left = text, , right] = comparison.exec(text) ?? []
    inner(left)
    if (right !== undefined) inner(right)
    this.#recursive = false
  }

  #take(prefix: string): boolean {
    const isNext = this.#text.startsWith(prefix, this.#at)
    if (isNext) this.#at += prefix.length
    return isNext
  }

  #peek(): string {
    const code = this.#text.codePointAt(this.#at)
    return code === undefined ? endOfText : String.fromCodePoint(code)
  }

  #next(): string {
    const char = this.#peek()
    this.#at += char.length
    return char
  }
}

/** Reads a part of a path as a path. */
function inner(path: string): void {
  new Reader(`{${path}}`).template()
}

/** `0`, `-1`, `1:3`, `::2`. */
function checkIndices(text: string): void {
  const found = slice.exec(text)
  if (found === null) throw new SyntaxProblem(`invalid array index ${text}`)
  for (const [i, part] of found.slice(1).entries()) {
    const digits = i === 0 ? part : part?.slice(1)
    if (digits === undefined || digits === '') continue
    if (digits === '-' || BigInt.asIntN(64, BigInt(digits)) !== BigInt(digits))
      throw new SyntaxProblem(`array index ${digits} is not a number`)
  }
}

function isWordCharacter(char: string): boolean {
  return char === '_' || /^[\p{L}\p{Nd}]/u.test(char)
}

function isDigit(char: string): boolean {
  return /^\p{Nd}/u.test(char)
}

/** Whether a character ends a name. */
function isEnd(char: string): boolean {
  return char === endOfText || ' \t\r\n.,[]$@{}'.includes(char)
}

const goEscape = /\\(?:[abfnrtv\\]|x[\da-fA-F]{2}|[0-3][0-7]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8})/g

/** Whether text between quotes has only the escapes of Go. */
function isQuotable(text: string, quote: string): boolean {
  let isValid = true
  const rest = text.replaceAll(`\\${quote}`, '').replaceAll(goEscape, (found) => {
    const code = found[1] === 'u' || found[1] === 'U' ? Number.parseInt(found.slice(2), 16) : 0
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) isValid = false
    return ''
  })
  return isValid && !rest.includes('\\') && !rest.includes(quote)
}

/** `U+003A ':'` */
function codePoint(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return isPrintable(char) ? `U+${code} '${char}'` : `U+${code}`
}
