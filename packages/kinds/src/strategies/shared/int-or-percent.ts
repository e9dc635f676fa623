/** Numbers that may be given as percentages. */
import { goIntOrString, intValue } from '@krmkit/meta/int-or-string'
import { validatePercent } from '@krmkit/meta/names'
import type { FieldPath } from './field-path.ts'
import { validateNotNegative } from './numbers.ts'
import { isSet } from './values.ts'

type IntOrPercent = number | string

/** A non-negative number or a percentage. */
export function validateIntOrPercent(value: IntOrPercent | null | undefined, at: FieldPath): void {
  if (!isSet(value)) return
  if (typeof value === 'number') validateNotNegative(value, at)
  else at.invalidAll(goIntOrString(value), validatePercent(value))
}

/** A percentage must not exceed 100. */
export function validateAtMostAll(value: IntOrPercent | null | undefined, at: FieldPath): void {
  if (typeof value === 'string' && (percentOrNumber(value) ?? 0) > 100) {
    at.invalid(goIntOrString(value), 'must not be greater than 100%')
  }
}

/** The number, or that of the percentage; undefined for other text. */
function percentOrNumber(value: IntOrPercent): number | undefined {
  if (typeof value === 'number') return value
  return validatePercent(value).length === 0 ? Number(value.slice(0, -1)) : undefined
}

/** As `percentOrNumber`, except that other text counts as the number it contains, or 0. */
export function numberOrPercent(value: IntOrPercent | null | undefined): number {
  return typeof value === 'string' ? (percentOrNumber(value) ?? intValue(value)) : (value ?? 0)
}
