import { runAtOnce, type Work } from '@krmkit/base/work'
import type { FieldError } from '@krmkit/meta'
import type { Validation } from './interfaces.ts'

/**
 * Returns the errors of a validation, without interruption.
 *
 * @example
 * import { runValidation } from '@krmkit/kinds'
 * import { field, Path } from '@krmkit/meta'
 * import { formatFieldErrors } from '@krmkit/meta/validation'
 * function* validation() {
 *   yield
 *   return [field.required(Path.of('name'))]
 * }
 * formatFieldErrors(runValidation(validation())) // 'name: Required value'
 */
export function runValidation(validation: Validation | undefined): FieldError[] {
  if (validation === undefined) return []
  return Array.isArray(validation) ? validation : runAtOnce(validation)
}

/** The errors of a validation, with its pauses. @see {@link runValidation} */
export function validationWork(validation: Validation | undefined): Work<FieldError[]> {
  return validation === undefined || Array.isArray(validation) ? finished(validation ?? []) : validation
}

function* finished(errors: FieldError[]): Work<FieldError[]> {
  yield
  return errors
}
