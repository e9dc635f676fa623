import type { ApiObject, DeepReadonly, FieldError } from '@krmkit/meta'
import { runUntilFull, runUntilFullSteps } from '@krmkit/meta/validation'
import type { Strategy, StrategyContext, SubresourceStrategy } from '../../interfaces.ts'
import { ContextErrorList } from './field-path.ts'
import { keepMembers, validateMetadataUpdate } from './metadata.ts'
import type { Steps } from './steps.ts'

/** Widens the object type: the table of strategies has one type for all kinds. */
export function defineStrategy<T extends ApiObject>(strategy: Strategy<T>): Strategy {
  return strategy as unknown as Strategy
}

/** Runs `validate` on an empty list. Returns its errors, cut off when the list is full. */
export function validateWith(context: StrategyContext, validate: (errors: ContextErrorList) => void): FieldError[] {
  const errors = new ContextErrorList(context)
  runUntilFull(errors, () => validate(errors))
  return errors.length === 0 ? [] : [...errors]
}

/** As `validateWith`, with interruption points. */
export function* validateStepsWith(context: StrategyContext, validate: (errors: ContextErrorList) => Steps): Steps<FieldError[]> {
  const errors = new ContextErrorList(context)
  yield* runUntilFullSteps(errors, validate(errors))
  return errors.length === 0 ? [] : [...errors]
}

/** The `/status` of kinds that keep `spec` in such writes; `validate` appends the errors of the status. */
export function statusSubresource<T extends ApiObject>(
  validate: (object: DeepReadonly<T>, errors: ContextErrorList, old: DeepReadonly<T>) => void,
): SubresourceStrategy<T> {
  return {
    prepareForUpdate: (object, old) => keepMembers(object, old, 'spec'),
    validateUpdate: (object, old, context) =>
      validateStepsWith(context, function* (errors) {
        yield* validateMetadataUpdate(object, old, errors)
        validate(object, errors, old)
      }),
  }
}
