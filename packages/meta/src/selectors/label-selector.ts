/** Label selectors. */

import type { Work } from '@krmkit/base/work'
import { compareCodePoints, goQuote } from '../go-text.ts'
import type { FieldError } from '../interfaces.ts'
import { MetaError } from '../meta-error.ts'
import { validateLabelValue } from '../names/name-formats.ts'
import { collectErrors } from '../validation/error-list.ts'
import { field, formatFieldErrors } from '../validation/field-error.ts'
import { validateLabelName, validateLabels } from '../validation/object-meta.ts'
import type { Path } from '../validation/path.ts'
import { LabelMatcher } from './label-matcher.ts'
import {
  type LabelOperator,
  LabelRequirement,
  type Labels,
  requirementValues,
  validateLabelRequirement,
} from './label-requirement.ts'

/** A selector as part of an object: `{matchLabels, matchExpressions}`. */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>> | null
  readonly matchExpressions?: readonly LabelSelectorExpression[] | null
}

/** One requirement of a selector in an object. */
export interface LabelSelectorExpression {
  readonly key: string
  /** `In`, `NotIn`, `Exists` or `DoesNotExist`. */
  readonly operator: string
  readonly values?: readonly string[] | null
}

/** Number of values of an expression validated between two pauses. */
const valuesPerStep = 16

/** Up to this number, requirements are checked one by one. */
const fewRequirements = 8

/** A conjunction of requirements. */
export class LabelSelector {
  /** Sorted by key. */
  readonly requirements: readonly LabelRequirement[]
  readonly #nothing: boolean
  /** Created on the first match if there are many requirements. */
  #matcher: LabelMatcher | undefined

  constructor(requirements: readonly LabelRequirement[], matchesNothing = false) {
    this.requirements = [...requirements].sort((a, b) => compareCodePoints(a.key, b.key))
    this.#nothing = matchesNothing
  }

  /** Whether the selector matches every object. */
  get empty(): boolean {
    return this.requirements.length === 0 && !this.#nothing
  }

  /** Costs O(labels of the object), regardless of the number of requirements. */
  matches(labels: Labels): boolean {
    if (this.#nothing) return false
    if (this.requirements.length > fewRequirements) {
      this.#matcher ??= new LabelMatcher(this.requirements)
      return this.#matcher.matches(labels)
    }
    for (let i = 0; i < this.requirements.length; i++) {
      if (!(this.requirements[i] as LabelRequirement).matches(labels)) return false
    }
    return true
  }

  /** The value that a label must have, if a requirement `=`, `==` or a single-valued `in` demands one. */
  exactMatch(key: string): string | undefined {
    return this.requirements.find((it) => it.key === key && it.exactValue !== undefined)?.exactValue
  }

  /** Text that parses to an equal selector. */
  toString(): string {
    return this.requirements.join(',')
  }
}

/** Matches every object. */
export const everythingSelector: LabelSelector = new LabelSelector([])

/** Matches no object. */
export const nothingSelector: LabelSelector = new LabelSelector([], true)

const operators: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
])

/**
 * Converts the selector of an object. An absent selector matches nothing, an empty one everything.
 *
 * @throws MetaError `InvalidLabelSelector`
 * @example
 * import { labelSelectorFromObject } from '@krmkit/meta/selectors'
 * labelSelectorFromObject({ matchLabels: { app: 'web' } }).matches({ app: 'web' }) // true
 */
export function labelSelectorFromObject(selector: LabelSelectorObject | null | undefined): LabelSelector {
  if (selector === undefined || selector === null) return nothingSelector
  const requirements: LabelRequirement[] = []
  const { matchLabels, matchExpressions } = selector
  for (const key of Object.keys(matchLabels ?? {})) requirements.push(checked(key, '=', [matchLabels?.[key] as string]))
  for (const { key, operator, values } of matchExpressions ?? []) {
    const known = operators.get(operator)
    if (known === undefined)
      throw new MetaError({
        code: 'InvalidLabelSelector',
        message: `${goQuote(operator)} is not a valid label selector operator`,
        text: operator,
      })
    requirements.push(checked(key, known, requirementValues(values ?? [])))
  }
  return requirements.length === 0 ? everythingSelector : new LabelSelector(requirements)
}

/**
 * The selector that requires exactly these labels; no labels match everything.
 *
 * @example
 * import { labelSelectorFromLabels } from '@krmkit/meta/selectors'
 * labelSelectorFromLabels({ app: 'web' }).matches({ app: 'web', tier: 'front' }) // true
 */
export function labelSelectorFromLabels(labels: Labels): LabelSelector {
  const keys = Object.keys(labels ?? {})
  if (keys.length === 0) return everythingSelector
  return new LabelSelector(keys.map((key) => new LabelRequirement(key, '=', [labels?.[key] as string])))
}

/** Options of selector validation. */
export interface SelectorRules {
  readonly allowInvalidValues?: boolean
}

/**
 * Validates the selector of an object.
 *
 * @example
 * import { Path } from '@krmkit/meta'
 * import { validateLabelSelector } from '@krmkit/meta/selectors'
 * const selector = { matchExpressions: [{ key: 'app', operator: 'Exists', values: ['web'] }] }
 * const [error] = validateLabelSelector(selector, Path.of('spec').child('selector'))
 * error?.field // 'spec.selector.matchExpressions[0].values'
 */
export function* validateLabelSelector(
  selector: LabelSelectorObject | null | undefined,
  path: Path,
  { allowInvalidValues = false }: SelectorRules = {},
): Work<FieldError[]> {
  if (selector === undefined || selector === null) return []
  // Most selectors have only `matchLabels`.
  const { matchLabels, matchExpressions } = selector
  if ((matchExpressions?.length ?? 0) === 0) return yield* validateLabels(matchLabels, path.child('matchLabels'))
  return yield* collectErrors((errors) => validateMembers(selector, path, { allowInvalidValues, errors }))
}

export interface ExpressionRules {
  readonly allowInvalidValues: boolean
  readonly errors: FieldError[]
}

function* validateMembers({ matchLabels, matchExpressions }: LabelSelectorObject, path: Path, rules: ExpressionRules): Work {
  for (const error of yield* validateLabels(matchLabels, path.child('matchLabels'))) rules.errors.push(error)
  const at = path.child('matchExpressions')
  for (const [i, expression] of (matchExpressions ?? []).entries()) {
    yield* validateExpression(expression, at.index(i), rules)
    yield
  }
}

function* validateExpression(
  expression: LabelSelectorExpression,
  at: Path,
  { allowInvalidValues, errors }: ExpressionRules,
): Work {
  const { key = '', operator = '' } = expression as Partial<LabelSelectorExpression>
  const values = expression.values ?? []
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0)
      errors.push(field.required(at.child('values'), "must be specified when `operator` is 'In' or 'NotIn'"))
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) {
      errors.push(field.forbidden(at.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
    }
  } else errors.push(field.invalid(at.child('operator'), operator, 'not a valid selector operator'))
  errors.push(...validateLabelName(key, at.child('key')))
  if (allowInvalidValues) return
  for (const [j, value] of values.entries()) {
    for (const text of validateLabelValue(value)) errors.push(field.invalid(at.child('values').index(j), value, text))
    if (j % valuesPerStep === valuesPerStep - 1) yield
  }
}

function checked(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const errors = validateLabelRequirement(key, operator, values)
  if (errors.length > 0) throw new MetaError({ code: 'InvalidLabelSelector', message: formatFieldErrors(errors), text: key })
  return new LabelRequirement(key, operator, values)
}
