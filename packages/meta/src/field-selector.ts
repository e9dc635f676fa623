/**
 * Which objects, by some of their fields: `metadata.name=a,status.phase!=Running`.
 */

import { compareCodePoints } from './go-text.ts'
import { MetaError } from './meta-error.ts'

/** Fields of an object that selectors may name, with their values as text; only own members count. */
export type FieldSet = Readonly<Record<string, string>>

/** One condition. */
export interface FieldRequirement {
  readonly field: string
  /** `==` is kept as `=`. */
  readonly operator: '=' | '!='
  readonly value: string
}

/** Conditions that all must hold. */
export class FieldSelector {
  readonly requirements: readonly FieldRequirement[]

  constructor(requirements: readonly FieldRequirement[]) {
    this.requirements = requirements
  }

  /** Whether every object matches. */
  get empty(): boolean {
    return this.requirements.length === 0
  }

  /** Allocates nothing. A field that is absent counts as empty. */
  matches(fields: FieldSet): boolean {
    for (let i = 0; i < this.requirements.length; i++) {
      const { field, operator, value } = this.requirements[i] as FieldRequirement
      const actual = Object.hasOwn(fields, field) ? (fields[field] as string) : ''
      if ((actual === value) !== (operator === '=')) return false
    }
    return true
  }

  /** The value that a field must have, when a condition says so. */
  exactMatch(field: string): string | undefined {
    return this.requirements.find((it) => it.field === field && it.operator === '=')?.value
  }

  /** The selector as text that parses to an equal selector. */
  toString(): string {
    return this.requirements.map((it) => `${it.field}${it.operator}${escapeFieldValue(it.value)}`).join(',')
  }
}

/**
 * Reads a selector; empty text selects everything. Conditions are sorted.
 *
 * @throws MetaError `InvalidFieldSelector` with the stock server's message.
 * @see API protocol specification, 4.1
 */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements: FieldRequirement[] = []
  for (const term of splitTerms(text).sort(compareCodePoints)) {
    if (term === '') continue
    const match = /!=|==?/.exec(term)
    if (match === null)
      throw new MetaError('InvalidFieldSelector', text, `invalid selector: '${text}'; can't understand '${term}'`)
    const value = unescapeValue(term.slice(match.index + match[0].length), text)
    requirements.push({ field: term.slice(0, match.index), operator: match[0] === '!=' ? '!=' : '=', value })
  }
  return new FieldSelector(requirements)
}

/** A value with backslashes before backslashes, commas and equals signs. */
export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&')
}

/** Splits at commas that no backslash precedes. */
function splitTerms(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === ',') {
      terms.push(text.slice(start, i))
      start = i + 1
    }
  }
  terms.push(text.slice(start))
  return terms
}

function unescapeValue(value: string, selector: string): string {
  if (!/[\\,=]/.test(value)) return value
  const fail = (message: string): never => {
    throw new MetaError('InvalidFieldSelector', selector, `invalid field selector: ${message}`)
  }
  let out = ''
  let escaped = false
  for (const char of value) {
    if (escaped) {
      if (char !== '\\' && char !== ',' && char !== '=') fail(`invalid escape sequence: \\${char}`)
      out += char
      escaped = false
    } else if (char === '\\') escaped = true
    else if (char === ',' || char === '=') fail(`unescaped character in value: ${char.charCodeAt(0)}`)
    else out += char
  }
  if (escaped) fail('invalid escape sequence: \\')
  return out
}
