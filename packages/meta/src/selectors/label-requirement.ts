/** One requirement of a label selector. */

import { compareCodePoints, goStrings, goText } from '../go-text.ts'
import type { FieldError } from '../interfaces.ts'
import { validateLabelValue, validateQualifiedNameFormat } from '../names/name-formats.ts'
import { field } from '../validation/field-error.ts'
import { labelValueError } from '../validation/label-value-error.ts'
import { Path } from '../validation/path.ts'
import { compareInt64, type SplitInt64, splitInt64 } from './int64-text.ts'

/** The operator, in selector syntax; `gt` and `lt` are written `>` and `<`. */
export type LabelOperator = 'in' | 'notin' | '=' | '==' | '!=' | 'gt' | 'lt' | 'exists' | '!'

/** Labels of an object; inherited members are ignored. */
export type Labels = Readonly<Record<string, string>> | null | undefined

/** A requirement of a label selector; all requirements of a selector must hold. */
export class LabelRequirement {
  readonly key: string
  readonly operator: LabelOperator
  /** Unique values in code point order. Empty for `exists` and `!`. */
  readonly values: readonly string[]
  readonly #bound: SplitInt64 | undefined
  /** Created on the first match if there are many values. */
  #set: ReadonlySet<string> | undefined

  /** Does not validate; see `validateLabelRequirement`. */
  constructor(key: string, operator: LabelOperator, values: readonly string[]) {
    this.key = key
    this.operator = operator
    this.values = values
    this.#bound = operator === 'gt' || operator === 'lt' ? splitInt64(values[0] ?? '') : undefined
  }

  /** Whether the labels satisfy the requirement. Does not allocate. An absent label satisfies `!`, `!=` and `notin`. */
  matches(labels: Labels): boolean {
    const has = labels !== undefined && labels !== null && Object.hasOwn(labels, this.key)
    switch (this.operator) {
      case 'exists':
        return has
      case '!':
        return !has
      case 'in':
      case '=':
      case '==':
        return has && this.#lists(labels[this.key] as string)
      case 'notin':
      case '!=':
        return !has || !this.#lists(labels[this.key] as string)
      default: {
        if (!has || this.#bound === undefined) return false
        const order = compareInt64(labels[this.key] as string, this.#bound)
        return this.operator === 'gt' ? order > 0 : order < 0
      }
    }
  }

  /** The only value that satisfies the requirement: of `=`, `==`, and `in` with one value. */
  get exactValue(): string | undefined {
    const { operator, values } = this
    return values.length === 1 && (operator === '=' || operator === '==' || operator === 'in') ? values[0] : undefined
  }

  #lists(value: string): boolean {
    if (this.values.length <= fewValues) return this.values.includes(value)
    this.#set ??= new Set(this.values)
    return this.#set.has(value)
  }

  toString(): string {
    const { key, operator, values } = this
    switch (operator) {
      case 'exists':
        return key
      case '!':
        return `!${key}`
      case 'in':
      case 'notin':
        return `${key} ${operator} (${values.join(',')})`
      case 'gt':
        return `${key}>${values[0] ?? ''}`
      case 'lt':
        return `${key}<${values[0] ?? ''}`
      default:
        return `${key}${operator}${values[0] ?? ''}`
    }
  }
}

/** Up to this number, values are searched linearly. */
const fewValues = 8

/** Values of a requirement, unique and sorted. */
export function requirementValues(values: readonly string[]): string[] {
  if (values.length <= 1) return [...values]
  return [...new Set(values)].sort(compareCodePoints)
}

/** Maximum number of invalid values reported per requirement. Differs: kube-apiserver reports all. */
const maxWrongValues = 100

/** Validates a requirement. Of many invalid values, only the first are reported. */
export function validateLabelRequirement(key: string, operator: LabelOperator, values: readonly string[]): FieldError[] {
  const keyError = labelKeyError(key, 'key')
  const errors = validateRequirementValues(key, operator, values)
  return keyError === undefined ? errors : [keyError, ...errors]
}

const path = Path.of('values')

/** Validates a requirement whose key is known to be valid. */
export function validateRequirementValues(key: string, operator: LabelOperator, values: readonly string[]): FieldError[] {
  const errors: FieldError[] = []
  const wrong = (detail: string) => errors.push(field.invalid(path, goText(goStrings(values)), detail))
  switch (operator) {
    case 'in':
    case 'notin':
      if (values.length === 0) wrong("for 'in', 'notin' operators, values set can't be empty")
      break
    case '=':
    case '==':
    case '!=':
      if (values.length !== 1) wrong('exact-match compatibility requires one single value')
      break
    case 'exists':
    case '!':
      if (values.length !== 0) wrong('values set must be empty for exists and does not exist')
      break
    default:
      if (values.length !== 1) wrong("for 'Gt', 'Lt' operators, exactly one value is required")
      values.forEach((value, i) => {
        if (splitInt64(value) !== undefined) return
        errors.push(field.invalid(path.index(i), value, "for 'Gt', 'Lt' operators, the value must be an integer"))
      })
  }
  for (let i = 0, wrongValues = 0; i < values.length && wrongValues < maxWrongValues; i++) {
    const value = values[i] as string
    const texts = validateLabelValue(value)
    if (texts.length === 0) continue
    wrongValues++
    errors.push(labelValueError(path.index(i).key(key), value, texts.join('; ')))
  }
  return errors
}

/** Combines the errors of a key into one field error. */
export function labelKeyError(key: string, place: string | undefined): FieldError | undefined {
  const texts = validateQualifiedNameFormat(key)
  return texts.length === 0 ? undefined : field.invalid(place, key, texts.join('; '))
}
