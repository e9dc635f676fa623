// Derived from label-selector.ts by `npm run direct`: do not edit.

import type { FieldError } from '../interfaces.ts'
import { validateLabelValue } from '../names/name-formats.ts'
import { collectErrors } from '../validation/error-list.direct.ts'
import { field } from '../validation/field-error.ts'
import { validateLabels } from '../validation/object-meta.direct.ts'
import { validateLabelName } from '../validation/object-meta.ts'
import type { Path } from '../validation/path.ts'
import type { ExpressionRules, LabelSelectorExpression, LabelSelectorObject, SelectorRules } from './label-selector.ts'

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
export function validateLabelSelector(
  selector: LabelSelectorObject | null | undefined,
  path: Path,
  { allowInvalidValues = false }: SelectorRules = {},
): FieldError[] {
  if (selector === undefined || selector === null) return []
  // Most selectors have only `matchLabels`.
  const { matchLabels, matchExpressions } = selector
  if ((matchExpressions?.length ?? 0) === 0) return validateLabels(matchLabels, path.child('matchLabels'))
  return collectErrors((errors) => validateMembers(selector, path, { allowInvalidValues, errors }))
}

function validateMembers({ matchLabels, matchExpressions }: LabelSelectorObject, path: Path, rules: ExpressionRules): void {
  for (const error of validateLabels(matchLabels, path.child('matchLabels'))) rules.errors.push(error)
  const at = path.child('matchExpressions')
  for (const [i, expression] of (matchExpressions ?? []).entries()) {
    validateExpression(expression, at.index(i), rules)
  }
}

function validateExpression(
  expression: LabelSelectorExpression,
  at: Path,
  { allowInvalidValues, errors }: ExpressionRules,
): void {
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
  }
}
