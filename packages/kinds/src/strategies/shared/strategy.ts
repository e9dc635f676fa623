import type { Work } from '@krmkit/base/work'
import type { ApiObject, DeepReadonly, FieldError } from '@krmkit/meta'
import { rethrowUnlessFull } from '@krmkit/meta/validation'
import type { Strategy, StrategyContext, SubresourceStrategy } from '../../interfaces.ts'
import { ContextErrorList } from './field-path.ts'
import { keepMembers, validateMetadataUpdate } from './metadata.ts'
import { reportedErrors } from './repeated-errors.ts'

/** Widens the object type: the table of strategies has one type for all kinds. */
export function defineStrategy<T extends ApiObject>(strategy: Strategy<T>): Strategy {
  return strategy as unknown as Strategy
}

/** Runs `validate` on an empty list. Returns its errors, cut off when the list is full. */
export function* validateWith(context: StrategyContext, validate: (errors: ContextErrorList) => Work): Work<FieldError[]> {
  const errors = new ContextErrorList(context)
  try {
    yield* validate(errors)
  } catch (error) {
    rethrowUnlessFull(error, errors)
  }
  return errors.length === 0 ? [] : reportedErrors(errors, context.features)
}

/**
 * A strategy's `validate`, which collects the errors of its rules. `validate` is made once: V8 keeps what a generator function captures until the next full
 * collection, so that one made for each request would keep the request.
 */
export function creationRules<T>(
  validate: (errors: ContextErrorList, object: T, context: StrategyContext) => Work,
): (object: T, context: StrategyContext) => Work<FieldError[]> {
  return (object, context) => validateWith(context, (errors) => validate(errors, object, context))
}

/** A strategy's `validateUpdate`, as {@link creationRules}. */
export function updateRules<T>(
  validate: (errors: ContextErrorList, object: T, old: T, context: StrategyContext) => Work,
): (object: T, old: T, context: StrategyContext) => Work<FieldError[]> {
  return (object, old, context) => validateWith(context, (errors) => validate(errors, object, old, context))
}

/** The `/status` of kinds that keep `spec` in such writes; `validate` appends the errors of the status. */
export function statusSubresource<T extends ApiObject>(
  validate: (object: DeepReadonly<T>, errors: ContextErrorList, old: DeepReadonly<T>) => void,
): SubresourceStrategy<T> {
  return {
    prepareForUpdate: (object, old) => keepMembers(object, old, 'spec'),
    validateUpdate: updateRules(function* (errors, object, old) {
      yield* validateMetadataUpdate(object, old, errors)
      validate(object, errors, old)
    }),
  }
}
