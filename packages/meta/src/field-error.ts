/**
 * Makers of `FieldError`, with the texts of the stock server.
 */

import { maxFieldErrorsLength } from './error-list.ts'
import { GoText, goFloat, goQuote, goQuoteShort, goSyntax, joinPrinted, shortText } from './go-text.ts'
import type { FieldError } from './interfaces.ts'
import type { Path } from './path.ts'

/** A place: a path, its text, or `undefined` for the object itself. */
export type FieldPlace = Path | string | undefined

/** Makers of field errors; every message is what the stock server prints after the field's path. */
export const field = {
  /** The value is malformed, out of bounds or not consistent with another one. */
  invalid(path: FieldPlace, value: unknown, detail: string): FieldError {
    return make(path, 'FieldValueInvalid', withDetail(`Invalid value: ${printValue(value)}`, detail))
  },
  /** The value has the wrong type. */
  typeInvalid(path: FieldPlace, value: unknown, detail: string): FieldError {
    return make(path, 'FieldValueTypeInvalid', withDetail(`Invalid value: ${printValue(value)}`, detail))
  },
  /** A value is needed and absent, null or empty. */
  required(path: FieldPlace, detail = ''): FieldError {
    return make(path, 'FieldValueRequired', withDetail('Required value', detail))
  },
  /** The value is none of a closed set. The order of `allowed` is kept. */
  notSupported(path: FieldPlace, value: unknown, allowed: readonly string[]): FieldError {
    const detail = allowed.length === 0 ? '' : `supported values: ${joinPrinted(allowed, goQuote)}`
    return make(path, 'FieldValueNotSupported', withDetail(`Unsupported value: ${printValue(value)}`, detail))
  },
  /** A value that would be fine elsewhere is not permitted here. */
  forbidden(path: FieldPlace, detail: string): FieldError {
    return make(path, 'FieldValueForbidden', withDetail('Forbidden', detail))
  },
  /** A value that must be unique is there twice. */
  duplicate(path: FieldPlace, value: unknown): FieldError {
    return make(path, 'FieldValueDuplicate', `Duplicate value: ${printValue(value)}`)
  },
  /** The value is longer than `max` bytes; the value itself is not printed. A negative `max` means that no bound is told. */
  tooLong(path: FieldPlace, _value: unknown, max: number): FieldError {
    const detail = max < 0 ? 'value is too long' : `may not be more than ${max} bytes`
    return make(path, 'FieldValueTooLong', `Too long: ${detail}`)
  },
  /** There are `actual` items where `max` are permitted; a negative number is not told. */
  tooMany(path: FieldPlace, actual: number, max: number): FieldError {
    const detail = max < 0 ? 'has too many items' : `must have at most ${max} items`
    return make(path, 'FieldValueTooMany', actual < 0 ? `Too many: ${detail}` : `Too many: ${actual}: ${detail}`)
  },
  /** Something that the value names does not exist. */
  notFound(path: FieldPlace, value: unknown): FieldError {
    return make(path, 'FieldValueNotFound', `Not found: ${printValue(value)}`)
  },
  /** The value could not be judged because something else failed. */
  internal(path: FieldPlace, detail: string): FieldError {
    return make(path, 'InternalError', withDetail('Internal error', detail))
  },
} as const

/** One error as one line: `spec.size: Invalid value: 0: must be positive`. */
export function formatFieldError(error: FieldError): string {
  return `${error.field}: ${error.message}`
}

/** All errors as one line, each text once; several stand in brackets. Empty for no errors. A very long line ends with `...`. */
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

function make(path: FieldPlace, reason: FieldError['reason'], message: string): FieldError {
  return { field: path === undefined ? '<nil>' : shortText(String(path)), reason, message }
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${shortText(detail)}`
}

/** A value inside a message; `null` and an absent value are the quoted word, which is what the stock server prints. */
function printValue(value: unknown): string {
  if (value === null || value === undefined) return '"null"'
  switch (typeof value) {
    case 'string':
      return goQuoteShort(value)
    case 'number':
      return goFloat(value)
    case 'boolean':
    case 'bigint':
      return String(value)
  }
  if (value instanceof GoText) return shortText(value.text)
  if (typeof value === 'object' && !Array.isArray(value)) {
    const prototype = Object.getPrototypeOf(value)
    if (prototype !== null && prototype !== Object.prototype) return shortText(String(value))
  }
  return shortText(goSyntax(value))
}
