/**
 * Label selectors as text: `app=web,tier in (front,back),!old,cores>2`.
 */

import { formatFieldError, formatFieldErrors } from './field-error.ts'
import {
  type LabelOperator,
  LabelRequirement,
  labelKeyError,
  requirementValues,
  validateLabelRequirement,
} from './label-requirement.ts'
import { everything, LabelSelector } from './label-selector.ts'
import { MetaError } from './meta-error.ts'

/** `end` is the end of the text; other kinds are their own text, `in` and `notin` being words in most places. */
type TokenKind = 'word' | 'end' | '!' | '=' | '==' | '!=' | '>' | '<' | ',' | '(' | ')' | 'in' | 'notin'

interface Token {
  readonly kind: TokenKind
  readonly text: string
}

/**
 * Reads a selector; empty text selects everything.
 *
 * @throws MetaError `InvalidLabelSelector` with the stock server's message.
 * @see API protocol specification, 4.1
 */
export function parseLabelSelector(text: string): LabelSelector {
  const tokens = lex(text)
  const requirements = new Parser(text, tokens).parse()
  return requirements.length === 0 ? everything : new LabelSelector(requirements)
}

const binaryOperators = 'in, notin, =, ==, !=, gt, lt'

class Parser {
  readonly #text: string
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(text: string, tokens: readonly Token[]) {
    this.#text = text
    this.#tokens = tokens
  }

  parse(): LabelRequirement[] {
    const out: LabelRequirement[] = []
    for (;;) {
      const token = this.#peek()
      if (token.kind === 'end') return out
      if (token.kind !== 'word' && token.kind !== '!')
        this.#fail(`found '${token.text}', expected: !, identifier, or 'end of string'`)
      out.push(this.#requirement())
      const next = this.#take()
      if (next.kind === 'end') return out
      if (next.kind !== ',') this.#fail(`found '${next.text}', expected: ',' or 'end of string'`)
      const after = this.#peek()
      if (after.kind !== 'word' && after.kind !== '!') this.#fail(`found '${after.text}', expected: identifier after ','`)
    }
  }

  #requirement(): LabelRequirement {
    let operator: LabelOperator | undefined
    let token = this.#take()
    if (token.kind === '!') {
      operator = '!'
      token = this.#take()
    }
    if (token.kind !== 'word') this.#failRequirement(`found '${token.text}', expected: identifier`)
    const key = token.text
    const wrongKey = labelKeyError(key, undefined)
    if (wrongKey !== undefined) this.#failRequirement(formatFieldError(wrongKey))
    const next = this.#peek().kind
    if (operator === undefined && (next === 'end' || next === ',')) operator = 'exists'
    if (operator !== undefined) return new LabelRequirement(key, operator, [])
    operator = this.#operator()
    const values = requirementValues(operator === 'in' || operator === 'notin' ? this.#values() : this.#exactValue())
    const errors = validateLabelRequirement(key, operator, values)
    if (errors.length > 0) this.#failRequirement(formatFieldErrors(errors))
    return new LabelRequirement(key, operator, values)
  }

  #operator(): LabelOperator {
    const { kind, text } = this.#tokens[this.#at++] as Token
    switch (kind) {
      case 'in':
      case 'notin':
      case '=':
      case '==':
      case '!=':
        return kind
      case '>':
        return 'gt'
      case '<':
        return 'lt'
      default:
        return this.#failRequirement(`found '${text}', expected: ${binaryOperators}`)
    }
  }

  #values(): string[] {
    const open = this.#take()
    if (open.kind !== '(') this.#failRequirement(`found '${open.text}' expected: '('`)
    const first = this.#peek()
    if (first.kind === ')') {
      this.#take()
      return []
    }
    if (first.kind !== 'word' && first.kind !== ',')
      this.#failRequirement(`found '${first.text}', expected: ',', ')' or identifier`)
    const values = this.#list()
    if (this.#take().kind !== ')') this.#failRequirement(`found '${first.text}', expected: ')'`)
    return values
  }

  #list(): string[] {
    const values: string[] = []
    for (;;) {
      const token = this.#take()
      if (token.kind === 'word') {
        values.push(token.text)
        const next = this.#peek()
        if (next.kind === ')') return values
        if (next.kind !== ',') this.#failRequirement(`found '${next.text}', expected: ',' or ')'`)
      } else if (token.kind === ',') {
        if (values.length === 0) values.push('')
        const next = this.#peek()
        if (next.kind === ')') {
          values.push('')
          return values
        }
        if (next.kind === ',') {
          this.#take()
          values.push('')
        }
      } else this.#failRequirement(`found '${token.text}', expected: ',', or identifier`)
    }
  }

  #exactValue(): string[] {
    const next = this.#peek()
    if (next.kind === 'end' || next.kind === ',') return ['']
    const token = this.#take()
    if (token.kind !== 'word') this.#failRequirement(`found '${token.text}', expected: identifier`)
    return [token.text]
  }

  /** The next token, where `in` and `notin` are ordinary words. */
  #peek(): Token {
    const token = this.#tokens[this.#at] ?? end
    return token.kind === 'in' || token.kind === 'notin' ? { kind: 'word', text: token.text } : token
  }

  #take(): Token {
    const token = this.#peek()
    this.#at++
    return token
  }

  #fail(message: string): never {
    throw new MetaError('InvalidLabelSelector', this.#text, message)
  }

  #failRequirement(message: string): never {
    return this.#fail(`unable to parse requirement: ${message}`)
  }
}

const end: Token = { kind: 'end', text: '' }
const space = /[ \t\r\n]/y
const token = /(==|!=|[=!(),<>])|([^=!(),<> \t\r\n\0]+)/y

/** Splits the text; a NUL ends it, as in the stock server. */
function lex(text: string): Token[] {
  const out: Token[] = []
  let at = 0
  while (at < text.length) {
    space.lastIndex = at
    if (space.test(text)) {
      at++
      continue
    }
    token.lastIndex = at
    const match = token.exec(text)
    if (match === null) break
    at = token.lastIndex
    if (match[1] !== undefined) out.push({ kind: match[1] as TokenKind, text: match[1] })
    else {
      const word = match[2] as string
      out.push({ kind: word === 'in' || word === 'notin' ? word : 'word', text: word })
    }
  }
  out.push(end)
  return out
}
