/** Factories of `FieldError` with the messages of kube-apiserver. */

import { GoText, goNumber, goQuote, goQuoteShort, goSyntax, joinFormatted, truncateGoText } from '../go-text.ts'
import type { FieldError } from '../interfaces.ts'
import { maxFieldErrorsLength } from './error-list.ts'
import type { Path } from './path.ts'
import { type ErrorBody, omittedValue, PrintedError } from './printed-error.ts'

/** A path, its text, or `undefined` for the object itself. */
export type FieldPathLike = Path | string | undefined

/**
 * Factories of field errors. The message is the text that kube-apiserver prints after the field path.
 *
 * @example
 * import { field, Path } from '@krmkit/meta'
 * field.required(Path.of('spec').child('selector')).field // 'spec.selector'
 * field.invalid(Path.of('spec').child('size'), 0, 'must be positive').message // 'Invalid value: 0: must be positive'
 */
export const field = {
  /** The value is malformed, out of range or inconsistent with another one. `omittedValue` is not shown. */
  invalid(path: FieldPathLike, value: unknown, detail: string): FieldError {
    return printedError(path, 'FieldValueInvalid', { label: 'Invalid value', value, detail })
  },
  /** The value has the wrong type. */
  typeInvalid(path: FieldPathLike, value: unknown, detail: string): FieldError {
    return printedError(path, 'FieldValueTypeInvalid', { label: 'Invalid value', value, detail })
  },
  /** A required value is absent, null or empty. */
  required(path: FieldPathLike, detail = ''): FieldError {
    return createFieldError(path, 'FieldValueRequired', withDetail('Required value', detail))
  },
  /** The value is not in a closed set, printed in the order of `allowed`. */
  notSupported(path: FieldPathLike, value: unknown, allowed: readonly string[]): FieldError {
    const detail = allowed.length === 0 ? '' : `supported values: ${joinFormatted(allowed, goQuote)}`
    return printedError(path, 'FieldValueNotSupported', { label: 'Unsupported value', value, detail })
  },
  /** The value is not permitted here, although valid elsewhere. */
  forbidden(path: FieldPathLike, detail: string): FieldError {
    return createFieldError(path, 'FieldValueForbidden', withDetail('Forbidden', detail))
  },
  /** The value must be unique but occurs more than once. */
  duplicate(path: FieldPathLike, value: unknown, detail = ''): FieldError {
    return printedError(path, 'FieldValueDuplicate', { label: 'Duplicate value', value, detail })
  },
  /** The value has more than `max` bytes and is not printed. A negative `max` omits the limit from the message. */
  tooLong(path: FieldPathLike, _value: unknown, max: number): FieldError {
    const detail = max < 0 ? 'value is too long' : `may not be more than ${max} bytes`
    return createFieldError(path, 'FieldValueTooLong', `Too long: ${detail}`)
  },
  /** There are `actual` items where at most `max` are allowed; negative numbers are omitted from the message. */
  tooMany(path: FieldPathLike, actual: number, max: number): FieldError {
    const detail = max < 0 ? 'has too many items' : `must have at most ${max} items`
    return createFieldError(path, 'FieldValueTooMany', actual < 0 ? `Too many: ${detail}` : `Too many: ${actual}: ${detail}`)
  },
  /** The value has fewer than `min` characters and is not printed. Of releases from 1.36 on. */
  tooShort(path: FieldPathLike, _value: unknown, min: number): FieldError {
    const detail = min < 0 ? 'value is too short' : `must be at least ${min} ${min === 1 ? 'character' : 'characters'}`
    return createFieldError(path, 'FieldValueTooShort', `Too short: ${detail}`)
  },
  /** There are `actual` items where at least `min` are needed; a negative `min` is omitted from the message. Of releases from 1.36 on. */
  tooFew(path: FieldPathLike, actual: number, min: number): FieldError {
    const detail = min < 0 ? 'has too few items' : `must have at least ${min} ${min === 1 ? 'item' : 'items'}`
    return createFieldError(path, 'FieldValueTooFew', `Too few: ${actual}: ${detail}`)
  },
  /** The value refers to something that does not exist. */
  notFound(path: FieldPathLike, value: unknown, detail = ''): FieldError {
    return printedError(path, 'FieldValueNotFound', { label: 'Not found', value, detail })
  },
  /** The value could not be validated because of another failure. */
  internal(path: FieldPathLike, detail: string): FieldError {
    return createFieldError(path, 'InternalError', withDetail('Internal error', detail))
  },
} as const

/**
 * Formats an error in one line: `spec.size: Invalid value: 0: must be positive`.
 *
 * @example
 * import { field, Path } from '@krmkit/meta'
 * import { formatFieldError } from '@krmkit/meta/validation'
 * const error = field.invalid(Path.of('spec').child('size'), 0, 'must be positive')
 * formatFieldError(error) // 'spec.size: Invalid value: 0: must be positive'
 */
export function formatFieldError(error: FieldError): string {
  return `${error.field}: ${error.message}`
}

/**
 * Formats errors in one line, each message once and several in brackets; empty for no errors. A very long line is truncated with
 * `...`.
 *
 * @example
 * import { field, Path } from '@krmkit/meta'
 * import { formatFieldErrors } from '@krmkit/meta/validation'
 * const errors = [field.required(Path.of('name')), field.required(Path.of('size'))]
 * formatFieldErrors(errors) // '[name: Required value, size: Required value]'
 */
export function formatFieldErrors(errors: readonly FieldError[]): string {
  const texts = new Set<string>()
  let length = 0
  for (const error of errors) {
    texts.add(formatFieldError(error))
    length += error.field.length + error.message.length
    if (length < maxFieldErrorsLength) continue
    texts.add('...')
    break
  }
  const joined = [...texts].join(', ')
  return texts.size > 1 ? `[${joined}]` : joined
}

function createFieldError(path: FieldPathLike, reason: FieldError['reason'], message: string): FieldError {
  return { field: pathText(path), reason, message }
}

/** An error that prints its value. */
function printedError(path: FieldPathLike, reason: FieldError['reason'], body: ErrorBody): FieldError {
  const shown = body.value === omittedValue ? body.label : `${body.label}: ${printValue(body.value)}`
  const message = withDetail(shown, body.detail)
  return new PrintedError(pathText(path), { reason, message, body })
}

function pathText(path: FieldPathLike): string {
  return path === undefined ? '<nil>' : truncateGoText(String(path))
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${truncateGoText(detail)}`
}

/** Formats a value for a message; `null` and absent values print as `"null"`, as on kube-apiserver. */
function printValue(value: unknown): string {
  if (value === null || value === undefined) return '"null"'
  switch (typeof value) {
    case 'string':
      return goQuoteShort(value)
    case 'number':
      return goNumber(value)
    case 'boolean':
    case 'bigint':
      return String(value)
  }
  if (value instanceof GoText) return truncateGoText(value.text)
  if (typeof value === 'object' && !Array.isArray(value)) {
    const prototype = Object.getPrototypeOf(value)
    if (prototype !== null && prototype !== Object.prototype) return truncateGoText(String(value))
  }
  return truncateGoText(goSyntax(value))
}
