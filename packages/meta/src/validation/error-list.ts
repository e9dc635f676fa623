/** Limited error lists, which stop the validation that fills them. */

import { StacklessError } from '@krmkit/base'
import type { Work } from '@krmkit/base/work'
import type { FieldError } from '../interfaces.ts'

/** Maximum number of errors of one validation, and of causes of one response. Differs: kube-apiserver reports all. */
export const maxFieldErrors = 1000

/** Maximum total length of the errors of one validation, in characters. */
export const maxFieldErrorsLength = 256 * 1024

/** Stops a validation whose error list is full. Never leaves `collectErrors`. */
export class ErrorListFull extends StacklessError {
  readonly list: readonly FieldError[]

  constructor(list: readonly FieldError[]) {
    super('the list of errors is full')
    this.list = list
  }
}

/** Counts errors and their length. */
export class ErrorBudget {
  #errors = maxFieldErrors
  #length = maxFieldErrorsLength

  /** Whether this error fills the list. */
  spend({ field, message }: FieldError): boolean {
    this.#length -= field.length + message.length
    return --this.#errors <= 0 || this.#length <= 0
  }
}

/** An array that throws `ErrorListFull` on the push that fills it. */
export class ErrorList extends Array<FieldError> {
  /** Created with the first error: most lists stay empty. */
  #budget: ErrorBudget | undefined

  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }

  override push(...errors: FieldError[]): number {
    for (const error of errors) {
      super.push(error)
      this.#budget ??= new ErrorBudget()
      if (this.#budget.spend(error)) throw new ErrorListFull(this)
    }
    return this.length
  }
}

/**
 * Collects the errors that `walk` pushes, until the list is full.
 *
 * @example
 * import { field, Path } from '@krmkit/meta'
 * import { collectErrors, formatFieldErrors } from '@krmkit/meta/validation'
 * const name: string = ''
 * const errors = collectErrors((list) => {
 *   if (name === '') list.push(field.required(Path.of('name')))
 * })
 * formatFieldErrors(errors) // 'name: Required value'
 */
export function* collectErrors(walk: (errors: ErrorList) => Work): Work<FieldError[]> {
  const errors = new ErrorList()
  yield* runUntilFull(errors, () => walk(errors))
  return errors.length === 0 ? [] : [...errors]
}

/**
 * Appends errors one by one, because a list may exceed the argument limit of a call.
 *
 * @example
 * import { field, Path } from '@krmkit/meta'
 * import { addErrors } from '@krmkit/meta/validation'
 * const errors = [field.required(Path.of('name'))]
 * addErrors(errors, [field.required(Path.of('size'))])
 * errors.length // 2
 */
export function addErrors(into: FieldError[], errors: readonly FieldError[]): void {
  for (const error of errors) into.push(error)
}

/**
 * Runs `walk` to its end, or until `list` is full.
 *
 * @example
 * import { field, Path } from '@krmkit/meta'
 * import { ErrorList, maxFieldErrors, runUntilFull } from '@krmkit/meta/validation'
 * const errors = new ErrorList()
 * runUntilFull(errors, () => {
 *   for (let i = 0; ; i++) errors.push(field.required(Path.of('items').index(i)))
 * })
 * errors.length === maxFieldErrors // true
 */
export function* runUntilFull(list: readonly FieldError[], walk: () => Work): Work {
  try {
    yield* walk()
  } catch (error) {
    rethrowUnlessFull(error, list)
  }
}

/**
 * Rethrows an error unless it signals that `list` is full.
 *
 * @see {@link runUntilFull}
 */
export function rethrowUnlessFull(error: unknown, list: readonly FieldError[]): void {
  if (!(error instanceof ErrorListFull) || error.list !== list) throw error
}
