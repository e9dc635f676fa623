/**
 * Lists of errors that end the walk which fills them.
 */

import type { FieldError } from './interfaces.ts'
import { QuietError } from './quiet-error.ts'

/** Most errors that one validation looks for, and most causes of one answer. Differs: the stock server reports all. */
export const maxFieldErrors = 1000

/** Characters that the texts of all errors of one validation may have together. */
export const maxFieldErrorsLength = 256 * 1024

/** Ends a walk whose list of errors is full. It never leaves `collectErrors`. */
export class ErrorListFull extends QuietError {
  readonly list: readonly FieldError[]

  constructor(list: readonly FieldError[]) {
    super('the list of errors is full')
    this.list = list
  }
}

/** Counts errors and the length of their texts. */
export class ErrorBudget {
  #errors = maxFieldErrors
  #length = maxFieldErrorsLength

  /** Whether the list is full with this error. */
  spend({ field, message }: FieldError): boolean {
    this.#length -= field.length + message.length
    return --this.#errors <= 0 || this.#length <= 0
  }
}

/** A list that throws `ErrorListFull` on the push that fills it. */
export class ErrorList extends Array<FieldError> {
  readonly #budget: ErrorBudget = new ErrorBudget()

  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }

  override push(...errors: FieldError[]): number {
    for (const error of errors) {
      super.push(error)
      if (this.#budget.spend(error)) throw new ErrorListFull(this)
    }
    return this.length
  }
}

/** What `walk` adds to the list, until the list is full. */
export function collectErrors(walk: (errors: ErrorList) => void): FieldError[] {
  const errors = new ErrorList()
  untilFull(errors, () => walk(errors))
  return [...errors]
}

/** Adds errors one by one: lists may be longer than a call takes arguments. */
export function addErrors(into: FieldError[], errors: readonly FieldError[]): void {
  for (const error of errors) into.push(error)
}

/** Runs `walk` to its end, or until `list` is full. */
export function untilFull(list: readonly FieldError[], walk: () => void): void {
  try {
    walk()
  } catch (error) {
    if (!(error instanceof ErrorListFull) || error.list !== list) throw error
  }
}
