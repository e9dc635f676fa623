/** Errors of label values. */

import type { FieldError } from '../interfaces.ts'
import { type FieldPathLike, field } from './field-error.ts'
import { restatedError } from './printed-error.ts'

/**
 * An error of a label value, whose limit is in bytes from 1.35 on. That of names has the same text and stays in characters.
 *
 * @param text of `validateLabelValue`
 *
 * @example
 * import { Path } from '@krmkit/meta'
 * import { errorsAt, labelValueError } from '@krmkit/meta/validation'
 * labelValueError(Path.of('tier'), 'a b', 'must be one word').message // 'Invalid value: "a b": must be one word'
 */
export function labelValueError(path: FieldPathLike, value: string, text: string): FieldError {
  const error = field.invalid(path, value, text)
  if (!text.startsWith('must be no more than 63 characters')) return error
  return restatedError(error, { since: '1.35', errors: [field.invalid(path, value, text.replace('characters', 'bytes'))] })
}
