/**
 * Syntax of JSON paths as kubectl and kube-apiserver read them: `spec.validations[0].expression`, `.items[?(@.name=="a")]`. A key in
 * quotes is read as a path, so its dots need a backslash: `.labels['a\.b/c']`.
 */
import { isPrintable, trimRight } from '@krmkit/meta/go-text'

/** A part of a path, which maps a list of values to another. */
export type PathStep =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'recursive' }
  /** `[FROM:TO:STEP]`; `[FROM]` has one item. */
  | {
      readonly kind: 'items'
      readonly from: number
      readonly to: number | undefined
      readonly step: number
      readonly one: boolean
    }
  | { readonly kind: 'union'; readonly parts: readonly (readonly PathStep[])[] }
  /** Items for which the path `left` exists, or compares with `right`. */
  | {
      readonly kind: 'filter'
      readonly left: readonly PathStep[]
      readonly operator?: string
      readonly right?: readonly PathStep[]
    }
  | { readonly kind: 'constant'; readonly value: string | number | boolean }
  /** A word outside of a path: no value. */
  | { readonly kind: 'word' }

/**
 * Reads a path. What follows a closing brace is read and dropped.
 *
 * @param path without the braces that templates have around it
 * @returns undefined for a malformed path.
 */
export function readJsonPath(path: string): readonly PathStep[] | undefined {
  try {
    return inner(path)
  } catch (error) {
    if (error instanceof SyntaxProblem) return undefined
    throw error
  }
}

/**
 * The problem of the first malformed part of a path, in the words of kube-apiserver.
 *
 * @param path without the braces that templates have around it
 * @returns undefined for a well-formed path.
 */
export function jsonPathProblem(path: string): string | undefined {
  try {
    inner(path)
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
  /** Of the path that is read. */
  #steps: PathStep[] = []

  constructor(text: string) {
    this.#text = text
  }

  /** Text with paths in braces. @returns the parts of the first path */
  template(): readonly PathStep[] {
    let first: readonly PathStep[] | undefined
    for (;;) {
      const brace = this.#text.indexOf('{', this.#at)
      if (brace < 0) return first ?? []
      this.#at = brace + 1
      this.#steps = []
      this.#path()
      first ??= this.#steps
    }
  }

  #path(): void {
    for (;;) {
      this.#start = this.#at
      if (this.#take('}')) return
      if (this.#take('[?(')) this.#filter()
      else if (this.#take('..')) {
        if (this.#steps.at(-1)?.kind === 'recursive') throw new SyntaxProblem('invalid multiple recursive descent')
        this.#steps.push({ kind: 'recursive' })
        this.#start = this.#at
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
    else if (isWordCharacter(char)) this.#word()
    else throw new SyntaxProblem(`unrecognized character in action: ${codePoint(char)}`)
  }

  #word(): void {
    while (!isEnd(this.#peek())) this.#next()
    const text = this.#text.slice(this.#start, this.#at)
    const isTruth = text === 'true' || text === 'false'
    this.#steps.push(isTruth ? { kind: 'constant', value: text === 'true' } : { kind: 'word' })
  }

  /** A name, up to the next character that ends it and has no backslash before it. */
  #field(): void {
    const from = this.#text[this.#start] === '.' ? this.#start + 1 : this.#start
    while (!isEnd(this.#peek())) if (this.#next() === '\\') this.#next()
    const text = this.#text.slice(from, this.#at)
    this.#steps.push(text === '*' ? { kind: 'wildcard' } : { kind: 'field', name: text.replaceAll('\\', '') })
  }

  #number(): void {
    while (this.#peek() === '.' || isDigit(this.#peek())) this.#next()
    const text = this.#text.slice(this.#start, this.#at)
    if (!number.test(text) || !Number.isFinite(Number(text))) throw new SyntaxProblem(`cannot parse number ${text}`)
    this.#steps.push({ kind: 'constant', value: Number(text) })
  }

  #brackets(): void {
    const inside = this.#until(']', 'unterminated array')
    const text = inside === '*' ? ':' : inside
    const parts = text.split(',')
    const key = quotedKey.exec(text)?.[1]
    if (parts.length > 1) {
      const read = parts.map((part) => inner(`[${trimRight(part.replace(/^ +/, ''), ' ')}]`))
      this.#steps.push({ kind: 'union', parts: read })
    } else if (key !== undefined) this.#steps.push(...inner(`.${key}`))
    else this.#steps.push(items(text))
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
    this.#steps.push({ kind: 'constant', value: unescaped(text.slice(1, -1)) })
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
    const [, left = text, operator, right] = comparison.exec(text) ?? []
    const compared = operator === undefined || right === undefined ? {} : { operator, right: inner(right) }
    this.#steps.push({ kind: 'filter', left: inner(left), ...compared })
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
function inner(path: string): readonly PathStep[] {
  return new Reader(`{${path}}`).template()
}

/** `0`, `-1`, `1:3`, `::2`. */
function items(text: string): PathStep {
  const found = slice.exec(text)
  if (found === null) throw new SyntaxProblem(`invalid array index ${text}`)
  const [from, to, step] = found.slice(1).map((part, i) => {
    const digits = i === 0 ? part : part?.slice(1)
    if (digits === undefined || digits === '') return undefined
    if (digits === '-' || BigInt.asIntN(64, BigInt(digits)) !== BigInt(digits))
      throw new SyntaxProblem(`array index ${digits} is not a number`)
    return Number(digits)
  })
  const one = found[2] === undefined
  return { kind: 'items', from: from ?? 0, to: one ? (from ?? 0) + 1 : to, step: step ?? 1, one }
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

const control: Readonly<Record<string, string>> = { a: '\u0007', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

/** The text of a valid quoted text. */
function unescaped(text: string): string {
  return text.replaceAll(/\\(?:x(..)|u(....)|U(........)|([0-7]{3})|(.))/gs, (_, x, u, wide, octal, char) => {
    if (char !== undefined) return control[char] ?? char
    return String.fromCodePoint(octal === undefined ? Number.parseInt(x ?? u ?? wide, 16) : Number.parseInt(octal, 8))
  })
}

/** `U+003A ':'` */
function codePoint(char: string): string {
  const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return isPrintable(char) ? `U+${code} '${char}'` : `U+${code}`
}
