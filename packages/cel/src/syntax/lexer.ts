import type { Problem } from './source.ts'

/** Tokenizes expressions. */

export type TokenKind = 'name' | 'int' | 'uint' | 'float' | 'string' | 'bytes' | 'end' | 'sign'

export interface Token {
  readonly kind: TokenKind
  /** Source text; `<EOF>` for the end. */
  readonly text: string
  readonly at: number
}

/** Keywords that are tokens of kind `sign`. */
const keywords = new Set(['in', 'true', 'false', 'null'])

const space = /[ \t\r\n\f]*/y
const number =
  /0[xX][0-9a-fA-F]+[uU]?|[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[uU]?/y
const word = /[a-zA-Z_][a-zA-Z0-9_]*/y
const sign = /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/y
const opening = /(?:[bB]?[rR]?)(?:"""|'''|"|')/y

/** @returns the tokens including the end token; unrecognized text is skipped and reported. */
export function tokenize(text: string, problems: Problem[]): Token[] {
  const tokens: Token[] = []
  const match = (pattern: RegExp, at: number): string | undefined => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0]
  }
  let at = 0
  for (;;) {
    at += match(space, at)?.length ?? 0
    if (at >= text.length) break
    if (text.startsWith('//', at)) {
      const end = text.indexOf('\n', at)
      at = end < 0 ? text.length : end
      continue
    }
    const quote = match(opening, at)
    if (quote !== undefined) {
      const { end, closed } = scanString(text, at, quote)
      if (closed) tokens.push({ kind: /^[bB]/.test(quote) ? 'bytes' : 'string', text: text.slice(at, end), at })
      else problems.push(unrecognized(at, text.slice(at, end)))
      at = end
      continue
    }
    const found = token(match, at)
    if (found === undefined) {
      const char = String.fromCodePoint(text.codePointAt(at) as number)
      // An incomplete operator consumes the next character.
      const wrong = half.has(char) ? text.slice(at, at + 2) : char
      problems.push(char === '`' ? { at, message: "unsupported syntax: '`'" } : unrecognized(at, wrong))
      at += wrong.length
      continue
    }
    tokens.push(found)
    at += found.text.length
  }
  tokens.push({ kind: 'end', text: '<EOF>', at: text.length })
  return tokens
}

function token(match: (pattern: RegExp, at: number) => string | undefined, at: number): Token | undefined {
  const digits = match(number, at)
  if (digits !== undefined) return { kind: numberKind(digits), text: digits, at }
  const name = match(word, at)
  if (name !== undefined) return { kind: keywords.has(name) ? 'sign' : 'name', text: name, at }
  const symbol = match(sign, at)
  return symbol === undefined ? undefined : { kind: 'sign', text: symbol, at }
}

function numberKind(text: string): TokenKind {
  if (/[uU]$/.test(text)) return 'uint'
  if (/^0[xX]/.test(text)) return 'int'
  return /[.eE]/.test(text) ? 'float' : 'int'
}

const half = new Set(['=', '&', '|'])

function unrecognized(at: number, text: string): Problem {
  return { at, message: `Syntax error: token recognition error at: '${text}'` }
}

/** Finds the end of a string. When not `closed`, `end` is the offset after the first invalid character. */
function scanString(text: string, at: number, opened: string): { end: number; closed: boolean } {
  const raw = /[rR]/.test(opened)
  const quote = opened.replace(/^[bBrR]+/, '')
  const many = quote.length === 3
  for (let i = at + opened.length; i < text.length; ) {
    if (text.startsWith(quote, i)) return { end: i + quote.length, closed: true }
    const char = text[i] as string
    if (!many && (char === '\n' || char === '\r')) return { end: i, closed: false }
    if (char !== '\\' || raw) {
      i++
      continue
    }
    const length = escapeLength(text, i)
    if (length === 0) return { end: i + badEscapeLength(text, i), closed: false }
    i += length
  }
  return { end: text.length, closed: false }
}

/** Length of an invalid escape, up to the character that invalidates it. */
function badEscapeLength(text: string, at: number): number {
  const begun = /^\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?/.exec(text.slice(at, at + 12))
  return Math.min((begun?.[0].length ?? 1) + 1, text.length - at)
}

const escapes = /\\(?:[abfnrtv"'`\\?]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7][0-7])/y

function escapeLength(text: string, at: number): number {
  escapes.lastIndex = at
  return escapes.exec(text)?.[0].length ?? 0
}
