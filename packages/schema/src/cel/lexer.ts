import type { Problem } from './source.ts'

/** Text to tokens. */

export type TokenKind = 'name' | 'int' | 'uint' | 'float' | 'string' | 'bytes' | 'end' | 'sign'

export interface Token {
  readonly kind: TokenKind
  /** As it is written; of the end `<EOF>`. */
  readonly text: string
  readonly at: number
}

/** Words that are signs, not names. */
const keywords = new Set(['in', 'true', 'false', 'null'])

const space = /[ \t\r\n\f]*/y
const number =
  /0[xX][0-9a-fA-F]+[uU]?|[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[uU]?/y
const word = /[a-zA-Z_][a-zA-Z0-9_]*/y
const sign = /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/y
const opening = /(?:[bB]?[rR]?)(?:"""|'''|"|')/y

/** @returns tokens, the last of them the end; what is no token is left out and told. */
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
      const end = endOfString(text, at, quote)
      if (end === undefined) {
        problems.push({ at, message: `Syntax error: token recognition error at: '${unreadable(text, at)}'` })
        at = text.length
        break
      }
      tokens.push({ kind: /^[bB]/.test(quote) ? 'bytes' : 'string', text: text.slice(at, end), at })
      at = end
      continue
    }
    const found = token(match, at)
    if (found === undefined) {
      const char = String.fromCodePoint(text.codePointAt(at) as number)
      const message = char === '`' ? "unsupported syntax: '`'" : `Syntax error: token recognition error at: '${char}'`
      problems.push({ at, message })
      at += char.length
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

/** Index behind the closing quotes; `undefined` without such, and for escapes that there are not. */
function endOfString(text: string, at: number, opened: string): number | undefined {
  const raw = /[rR]/.test(opened)
  const quote = opened.replace(/^[bBrR]+/, '')
  const many = quote.length === 3
  for (let i = at + opened.length; i < text.length; ) {
    if (text.startsWith(quote, i)) return i + quote.length
    const char = text[i] as string
    if (!many && (char === '\n' || char === '\r')) return undefined
    if (char !== '\\' || raw) {
      i++
      continue
    }
    const length = escapeLength(text, i)
    if (length === 0) return undefined
    i += length
  }
  return undefined
}

const escapes = /\\(?:[abfnrtv"'`\\?]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7][0-7])/y

function escapeLength(text: string, at: number): number {
  escapes.lastIndex = at
  return escapes.exec(text)?.[0].length ?? 0
}

/** What is shown of a string that does not end. */
function unreadable(text: string, at: number): string {
  const end = text.indexOf('\n', at)
  return text.slice(at, end < 0 ? text.length : end)
}
