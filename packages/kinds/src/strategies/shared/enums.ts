/** Strings of a fixed set of values. */
import type { FieldPath } from './field-path.ts'
import { isEmpty, isSet } from './values.ts'

/** An optional value that must be one of `allowed`, which the message lists in the given order. */
export function validateEnum(value: string | null | undefined, at: FieldPath, allowed: readonly string[]): void {
  if (isSet(value) && !allowed.includes(value)) at.notSupported(value, allowed)
}

/** A required value that must be one of `allowed`. */
export function validateRequiredEnum(value: string | undefined, at: FieldPath, allowed: readonly string[]): void {
  if (isEmpty(value)) at.required()
  else if (!allowed.includes(value)) at.notSupported(value, allowed)
}
