/** The parser of label selectors: `app=web,tier in (front,back),!old,cores>2`. */

import type { FieldError } from '../interfaces.ts'
import { MetaError } from '../meta-error.ts'
import { formatFieldErrors } from '../validation/field-error.ts'
import {
  type LabelOperator,
  LabelRequirement,
  labelKeyError,
  requirementValues,
  validateRequirementValues,
} from './label-requirement.ts'
import { everythingSelector, LabelSelector } from './label-selector.ts'
import { maxSelectorTerms, tooManyTermsError, truncateSelector } from './selector-limits.ts'

/** `end` is the end of the text; other kinds equal their text. `in` and `notin` are ordinary words in most positions. */
type TokenKind = 'word' | 'end' | '!' | '=' | '==' | '!=' | '>' | '<' | ',' | '(' | ')' | 'in' | 'notin'

interface Token {
  readonly kind: TokenKind
  readonly text: string
}

/**
 * Parses a selector of at most {@link maxSelectorTerms} terms and values; empty text matches everything.
 *
 * @throws MetaError `InvalidLabelSelector` with the message of kube-apiserver.
 * @example
 * import { parseLabelSelector } from '@krmkit/meta'
 * parseLabelSelector('app in (web, shop),!old').matches({ app: 'web' }) // true
 * @see API protocol specification, 4.1
 */
export function parseLabelSelector(text: string): LabelSelector {
  const requirements = new Parser(text).parse()
  return requirements.length === 0 ? everythingSelector : new LabelSelector(requirements)
}

const binaryOperators = 'in, notin, =, ==, !=, gt, lt'

/** Reads tokens one by one, so that a rejected selector costs no more than the text before its error. */
class Parser {
  readonly #text: string
  readonly #tokens: Tokens
  /** Remaining number of terms and values. */
  #left = maxSelectorTerms
  #next: Token | undefined
  /** The last key that was found valid. */
  #key = ''

  constructor(text: string) {
    this.#text = text
    this.#tokens = new Tokens(text)
  }

  parse(): LabelRequirement[] {
    const out: LabelRequirement[] = []
    for (;;) {
      const token = this.#peek()
      if (token.kind === 'end') return out
      if (token.kind !== 'word' && token.kind !== '!')
        this.#fail(`found '${truncateSelector(token.text)}', expected: !, identifier, or 'end of string'`)
      out.push(this.#requirement())
      const next = this.#take()
      if (next.kind === 'end') return out
      if (next.kind !== ',') this.#fail(`found '${truncateSelector(next.text)}', expected: ',' or 'end of string'`)
      const after = this.#peek()
      if (after.kind !== 'word' && after.kind !== '!')
        this.#fail(`found '${truncateSelector(after.text)}', expected: identifier after ','`)
    }
  }

  #requirement(): LabelRequirement {
    this.#count()
    let operator: LabelOperator | undefined
    let token = this.#take()
    if (token.kind === '!') {
      operator = '!'
      token = this.#take()
    }
    if (token.kind !== 'word') this.#failRequirement(`found '${truncateSelector(token.text)}', expected: identifier`)
    const key = token.text
    const wrongKey = key === this.#key ? undefined : labelKeyError(key, undefined)
    if (wrongKey !== undefined) this.#failValidation([wrongKey])
    this.#key = key
    const next = this.#peek().kind
    if (operator === undefined && (next === 'end' || next === ',')) operator = 'exists'
    if (operator !== undefined) return new LabelRequirement(key, operator, [])
    operator = this.#operator()
    const values = requirementValues(operator === 'in' || operator === 'notin' ? this.#values() : this.#exactValue())
    const errors = validateRequirementValues(key, operator, values)
    if (errors.length > 0) this.#failValidation(errors)
    return new LabelRequirement(key, operator, values)
  }

  #operator(): LabelOperator {
    const { kind, text } = this.#raw()
    this.#next = undefined
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
        return this.#failRequirement(`found '${truncateSelector(text)}', expected: ${binaryOperators}`)
    }
  }

  #values(): string[] {
    const open = this.#take()
    if (open.kind !== '(') this.#failRequirement(`found '${truncateSelector(open.text)}' expected: '('`)
    const first = this.#peek()
    if (first.kind === ')') {
      this.#take()
      this.#count()
      return ['']
    }
    if (first.kind !== 'word' && first.kind !== ',')
      this.#failRequirement(`found '${truncateSelector(first.text)}', expected: ',', ')' or identifier`)
    const values = this.#list()
    if (this.#take().kind !== ')') this.#failRequirement(`found '${truncateSelector(first.text)}', expected: ')'`)
    return values
  }

  #list(): string[] {
    const values: string[] = []
    const add = (value: string): void => {
      this.#count()
      values.push(value)
    }
    for (;;) {
      const token = this.#take()
      if (token.kind === 'word') {
        add(token.text)
        const next = this.#peek()
        if (next.kind === ')') return values
        if (next.kind !== ',') this.#failRequirement(`found '${truncateSelector(next.text)}', expected: ',' or ')'`)
      } else if (token.kind === ',') {
        if (values.length === 0) add('')
        const next = this.#peek()
        if (next.kind === ')') {
          add('')
          return values
        }
        if (next.kind === ',') {
          this.#take()
          add('')
        }
      } else this.#failRequirement(`found '${truncateSelector(token.text)}', expected: ',', or identifier`)
    }
  }

  #exactValue(): string[] {
    this.#count()
    const next = this.#peek()
    if (next.kind === 'end' || next.kind === ',') return ['']
    const token = this.#take()
    if (token.kind !== 'word') this.#failRequirement(`found '${truncateSelector(token.text)}', expected: identifier`)
    return [token.text]
  }

  #count(): void {
    if (--this.#left < 0) throw tooManyTermsError('InvalidLabelSelector', this.#text)
  }

  #raw(): Token {
    this.#next ??= this.#tokens.next()
    return this.#next
  }

  /** The next token, with `in` and `notin` as ordinary words. */
  #peek(): Token {
    const token = this.#raw()
    return token.kind === 'in' || token.kind === 'notin' ? { kind: 'word', text: token.text } : token
  }

  #take(): Token {
    const token = this.#peek()
    this.#next = undefined
    return token
  }

  #fail(message: string): never {
    throw new MetaError({ code: 'InvalidLabelSelector', message, text: this.#text })
  }

  #failRequirement(message: string): never {
    return this.#fail(`${requirementPrefix}${message}`)
  }

  #failValidation(errors: readonly FieldError[]): never {
    const message = `${requirementPrefix}${formatFieldErrors(errors)}`
    throw new MetaError({
      code: 'InvalidLabelSelector',
      message,
      text: this.#text,
      errors: { prefix: requirementPrefix, list: errors },
    })
  }
}

const requirementPrefix = 'unable to parse requirement: '

const end: Token = { kind: 'end', text: '' }
/** Shared tokens. */
const signs = new Map<string, Token>(
  (['!', '=', '==', '!=', '>', '<', ',', '(', ')'] as const).map((sign) => [sign, { kind: sign, text: sign }]),
)
const space = /[ \t\r\n]+/y
const word = /[^=!(),<> \t\r\n\0]+/y

/** Splits the text into tokens; NUL ends it, as on kube-apiserver. */
class Tokens {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** The next token; at the end of the text, repeatedly `end`. */
  next(): Token {
    const text = this.#text
    space.lastIndex = this.#at
    if (space.test(text)) this.#at = space.lastIndex
    word.lastIndex = this.#at
    if (word.test(text)) {
      const found = text.slice(this.#at, word.lastIndex)
      this.#at = word.lastIndex
      return { kind: found === 'in' || found === 'notin' ? found : 'word', text: found }
    }
    const pair = text.charAt(this.#at + 1) === '=' ? signs.get(text.slice(this.#at, this.#at + 2)) : undefined
    const sign = pair ?? signs.get(text.charAt(this.#at))
    if (sign === undefined) return end
    this.#at += sign.text.length
    return sign
  }
}
