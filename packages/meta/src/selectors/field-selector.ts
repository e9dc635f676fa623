/** Field selectors: `metadata.name=a,status.phase!=Running`. */

import { compareCodePoints } from '../go-text.ts'
import { MetaError } from '../meta-error.ts'
import { maxSelectorTerms, tooManyTermsError, truncateSelector } from './selector-limits.ts'

/** The fields of an object that selectors may refer to, with values as text; inherited members are ignored. */
export type SelectableFields = Readonly<Record<string, string>>

/** One requirement. */
export interface FieldRequirement {
  readonly field: string
  /** `==` is normalized to `=`. */
  readonly operator: '=' | '!='
  readonly value: string
}

/** Up to this number, requirements are checked one by one. */
const fewRequirements = 8

/** A conjunction of requirements. */
export class FieldSelector {
  readonly requirements: readonly FieldRequirement[]
  /** Created on the first match if there are many requirements. */
  #rules: ReadonlyMap<string, FieldRule> | undefined

  constructor(requirements: readonly FieldRequirement[]) {
    this.requirements = requirements
  }

  /** Whether the selector matches every object. */
  get empty(): boolean {
    return this.requirements.length === 0
  }

  /** Absent fields count as empty. Costs O(distinct fields of the selector). */
  matches(fields: SelectableFields): boolean {
    if (this.requirements.length > fewRequirements) {
      this.#rules ??= mergeRules(this.requirements)
      for (const [field, rule] of this.#rules) if (!rule.accepts(fieldValue(fields, field))) return false
      return true
    }
    for (let i = 0; i < this.requirements.length; i++) {
      const { field, operator, value } = this.requirements[i] as FieldRequirement
      if ((fieldValue(fields, field) === value) !== (operator === '=')) return false
    }
    return true
  }

  /** The value that a field must have, if a requirement demands one. */
  exactMatch(field: string): string | undefined {
    return this.requirements.find((it) => it.field === field && it.operator === '=')?.value
  }

  /** Text that parses to an equal selector. */
  toString(): string {
    return this.requirements.map((it) => `${it.field}${it.operator}${escapeFieldValue(it.value)}`).join(',')
  }
}

/** All requirements on one field. */
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

function mergeRules(requirements: readonly FieldRequirement[]): ReadonlyMap<string, FieldRule> {
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

function fieldValue(fields: SelectableFields, field: string): string {
  return Object.hasOwn(fields, field) ? (fields[field] as string) : ''
}

/**
 * Parses a selector of at most {@link maxSelectorTerms} terms and values; empty text matches everything. Requirements are sorted.
 *
 * @throws MetaError `InvalidFieldSelector` with the message of kube-apiserver.
 * @example
 * import { parseFieldSelector } from '@krmkit/meta/selectors'
 * parseFieldSelector('status.phase!=Running').matches({ 'status.phase': 'Failed' }) // true
 * @see API protocol specification, 4.1
 */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements: FieldRequirement[] = []
  for (const term of splitTerms(text).sort(compareCodePoints)) {
    if (term === '') continue
    const match = /!=|==?/.exec(term)
    if (match === null)
      throw new MetaError({
        code: 'InvalidFieldSelector',
        message: `invalid selector: '${truncateSelector(text)}'; can't understand '${truncateSelector(term)}'`,
        text,
      })
    const value = unescapeValue(term.slice(match.index + match[0].length), text)
    const field = term.slice(0, match.index)
    // kube-apiserver drops terms without a field and a value.
    if (field === '' && value === '') continue
    requirements.push({ field, operator: match[0] === '!=' ? '!=' : '=', value })
  }
  return new FieldSelector(requirements)
}

/**
 * Escapes backslashes, commas and equals signs.
 *
 * @example
 * import { escapeFieldValue, parseFieldSelector } from '@krmkit/meta/selectors'
 * escapeFieldValue('a,b') // 'a\\,b'
 * parseFieldSelector(`spec.host=${escapeFieldValue('a,b')}`).matches({ 'spec.host': 'a,b' }) // true
 */
export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&')
}

/** Splits at unescaped commas. */
function splitTerms(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === ',') {
      terms.push(text.slice(start, i))
      start = i + 1
      // Each term counts as two, because it has a value.
      if (terms.length * 2 >= maxSelectorTerms) throw tooManyTermsError('InvalidFieldSelector', text)
    }
  }
  terms.push(text.slice(start))
  return terms
}

function unescapeValue(value: string, selector: string): string {
  if (!/[\\,=]/.test(value)) return value
  const fail = (message: string): never => {
    throw new MetaError({ code: 'InvalidFieldSelector', message: `invalid field selector: ${message}`, text: selector })
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
