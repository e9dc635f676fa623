import { type ApiObject, type FieldError, untilFull } from '@krmkit/meta'
import type { Strategy, StrategyContext } from '../../interfaces.ts'
import { ContextErrorList } from './field-path.ts'

/** Widens the object type: the table of strategies has one type for all kinds. */
export function defineStrategy<T extends ApiObject>(strategy: Strategy<T>): Strategy {
  return strategy as unknown as Strategy
}

/** Runs `validate` on an empty list. Returns its errors, cut off when the list is full. */
export function validateWith(context: StrategyContext, validate: (errors: ContextErrorList) => void): FieldError[] {
  const errors = new ContextErrorList(context)
  untilFull(errors, () => validate(errors))
  return errors.length === 0 ? [] : [...errors]
}
