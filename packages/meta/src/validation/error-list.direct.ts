// Derived from error-list.ts by `npm run direct`: do not edit.

import type { FieldError } from '../interfaces.ts'
import { ErrorList, rethrowUnlessFull } from './error-list.ts'

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
export function collectErrors(walk: (errors: ErrorList) => void): FieldError[] {
  const errors = new ErrorList()
  runUntilFull(errors, () => walk(errors))
  return errors.length === 0 ? [] : [...errors]
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
export function runUntilFull(list: readonly FieldError[], walk: () => void): void {
  try {
    walk()
  } catch (error) {
    rethrowUnlessFull(error, list)
  }
}
