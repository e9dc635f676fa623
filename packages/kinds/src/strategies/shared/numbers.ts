/** Ranges of integers. */
import { validatePortNum } from '@krmkit/meta/names'
import type { FieldPath } from './field-path.ts'
import { isSet } from './values.ts'

export const notNegative = 'must be greater than or equal to 0'
export const positive = 'must be greater than 0'
/** Largest 32-bit integer. */
export const maxInt32 = 2_147_483_647

/** `must be between 1 and 10, inclusive` */
export function between(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`
}

/** Reports a negative value. */
export function validateNotNegative(value: number | bigint | null | undefined, at: FieldPath): void {
  if (isSet(value) && value < 0) at.invalid(value, notNegative)
}

/** Reports a value that is zero or negative. */
export function validatePositive(value: number | bigint | null | undefined, at: FieldPath): void {
  if (isSet(value) && value <= 0) at.invalid(value, positive)
}

/** A TCP, UDP or SCTP port number. */
export function validatePortNumber(value: number, at: FieldPath): void {
  at.invalidAll(value, validatePortNum(value))
}
