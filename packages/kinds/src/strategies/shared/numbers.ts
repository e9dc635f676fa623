/** Ranges of integers that many kinds share. */
import { validatePortNum } from '@krmkit/meta'
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

/** Reports a set value below zero. */
export function checkNotNegative(value: number | bigint | null | undefined, at: FieldPath): void {
  if (isSet(value) && value < 0) at.invalid(value, notNegative)
}

/** Reports a set value that is not above zero. */
export function checkPositive(value: number | bigint | null | undefined, at: FieldPath): void {
  if (isSet(value) && value <= 0) at.invalid(value, positive)
}

/** A TCP, UDP or SCTP port number. */
export function checkPortNumber(value: number, at: FieldPath): void {
  at.invalidAll(value, validatePortNum(value))
}

/** Seconds that a session sticks to its endpoint, and the like: `low` to `high`, both included. */
export function checkRange(value: number, at: FieldPath, range: { readonly low: number; readonly high: number }): void {
  if (value < range.low || value > range.high) at.invalid(value, between(range.low, range.high))
}
