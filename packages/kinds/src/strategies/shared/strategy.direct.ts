// Derived from strategy.ts by `npm run direct`: do not edit.

import type { FieldError } from '@krmkit/meta'
import { rethrowUnlessFull } from '@krmkit/meta/validation'
import type { StrategyContext } from '../../interfaces.ts'
import { ContextErrorList } from './field-path.ts'
import { reportedErrors } from './repeated-errors.ts'

/** Runs `validate` on an empty list. Returns its errors, cut off when the list is full. */
export function validateWith(context: StrategyContext, validate: (errors: ContextErrorList) => void): FieldError[] {
  const errors = new ContextErrorList(context)
  try {
    validate(errors)
  } catch (error) {
    rethrowUnlessFull(error, errors)
  }
  return errors.length === 0 ? [] : reportedErrors(errors, context.features)
}
