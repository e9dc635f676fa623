/**
 * Which objects, by some of their fields: `metadata.name=a,status.phase!=Running`.
 */

import { compareCodePoints } from './go-text.ts'
import { MetaError } from './meta-error.ts'
import { maxSelectorTerms, shownText, tooManyTerms } from './selector-limits.ts'

/** Fields of an object that selectors may name, with their values as text; only own members count. */
export type FieldSet = Readonly<Record<string, string>>

/** One condition. */
export interface FieldRequirement {
  readonly field: string
  /** `==` is kept as `=`. */
  readonly operator: '=' | '!='
  readonly value: string
}

/** Up to here conditions are looked at one by one. */
const fewRequirements = 8

/** Conditions that all must hold. */
export class FieldSelector {
  readonly requirements: readonly FieldRequirement[]
  /** Made for the first object when there are many conditions. */
  #rules: ReadonlyMap<string, FieldRule> | undefined

  constructor(requirements: readonly FieldRequirement[]) {
    this.requirements = requirements
  }

  /** Whether every object matches. */
  get empty(): boolean {
    return this.requirements.length === 0
  }

  /** A field that is absent counts as empty. Takes as long as there are fields that the selector names. */
  matches(fields: FieldSet): boolean {
    if (this.requirements.length > fewRequirements) {
      this.#rules ??= joined(this.requirements)
      for (const [field, rule] of this.#rules) if (!rule.accepts(fieldValue(fields, field))) return false
      return true
    }
    for (let i = 0; i < this.requirements.length; i++) {
      const { field, operator, value } = this.requirements[i] as FieldRequirement
      if ((fieldValue(fields, field) === value) !== (operator === '=')) return false
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

/** All that a selector says about one field. */
class FieldRule {
  #required: string | undefined
  #contradictory = false
  readonly #excluded = new Set<string>()

  add({ operator, value }: FieldRequirement): void {
    if (operator === '!=') this.#excluded.add(value)
    else if (this.#required === undefined) this.#required = value
    else if (this.#required !== value) this.#contradictory = true
  }

  accepts(value: string): boolean {
    if (this.#contradictory || (this.#required !== undefined && this.#required !== value)) return false
    return !this.#excluded.has(value)
  }
}

function joined(requirements: readonly FieldRequirement[]): ReadonlyMap<string, FieldRule> {
  const rules = new Map<string, FieldRule>()
  for (const requirement of requirements) {
    let rule = rules.get(requirement.field)
    if (rule === undefined) {
      rule = new FieldRule()
      rules.set(requirement.field, rule)
    }
    rule.add(requirement)
  }
  return rules
}

function fieldValue(fields: FieldSet, field: string): string {
  return Object.hasOwn(fields, field) ? (fields[field] as string) : ''
}

/**
 * Reads a selector of at most {@link maxSelectorTerms} terms and values; empty text selects everything. Conditions are sorted.
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
      throw new MetaError(
        'InvalidFieldSelector',
        text,
        `invalid selector: '${shownText(text)}'; can't understand '${shownText(term)}'`,
      )
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
      // Each is a term and a value.
      if (terms.length * 2 >= maxSelectorTerms) throw tooManyTerms('InvalidFieldSelector', text)
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
