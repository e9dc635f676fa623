/** Numbers that may be given as percentages. */
import { goIntOrString, validatePercent } from '@krmkit/meta'
import type { FieldPath } from './field-path.ts'
import { checkNotNegative } from './numbers.ts'
import { isSet } from './values.ts'

type IntOrPercent = number | string

/** A number that is not negative, or a percentage. */
export function checkIntOrPercent(value: IntOrPercent | null | undefined, at: FieldPath): void {
  if (!isSet(value)) return
  if (typeof value === 'number') checkNotNegative(value, at)
  else at.invalidAll(goIntOrString(value), validatePercent(value))
}

/** A percentage of at most 100. */
export function checkAtMostAll(value: IntOrPercent | null | undefined, at: FieldPath): void {
  if (typeof value === 'string' && (percentOrNumber(value) ?? 0) > 100) {
    at.invalid(goIntOrString(value), 'must not be greater than 100%')
  }
}

/** The number, or that before the percent sign; undefined when it is neither. */
export function percentOrNumber(value: IntOrPercent): number | undefined {
  if (typeof value === 'number') return value
  return validatePercent(value).length === 0 ? Number(value.slice(0, -1)) : undefined
}
