/** Field errors as each release states them. */

import { goJson } from '../go-json.ts'
import { goNumber, goQuoteShort, truncateGoText } from '../go-text.ts'
import type { Features, FieldError } from '../interfaces.ts'
import { maxFieldErrors } from './error-list.ts'

/** What the message of an error is made of. */
export interface ErrorBody {
  readonly label: string
  readonly value: unknown
  readonly detail: string
}

interface Restatement {
  readonly since: string
  readonly errors: readonly FieldError[]
}

/**
 * An error that remembers what its message was made of. The message is that of releases before 1.34; {@link errorsAt} prints the others when
 * the response is made, so that validation needs no release and the parts cost nothing until an error is sent.
 */
export class PrintedError implements FieldError {
  readonly field: string
  readonly reason: FieldError['reason']
  readonly message: string
  // Private, so that neither comparisons nor JSON see it.
  readonly #body: ErrorBody | undefined
  readonly #restated: Restatement | undefined

  constructor(
    field: string,
    {
      reason,
      message,
      body,
      restated,
    }: Pick<FieldError, 'reason' | 'message'> & { readonly body?: ErrorBody | undefined; readonly restated?: Restatement },
  ) {
    this.field = field
    this.reason = reason
    this.message = message
    this.#body = body
    this.#restated = restated
  }

  static bodyOf(error: FieldError): ErrorBody | undefined {
    return #body in error ? error.#body : undefined
  }

  static restatementOf(error: FieldError): Restatement | undefined {
    return #restated in error ? error.#restated : undefined
  }
}

/**
 * An error that is stated as others from a release on.
 *
 * @example
 * import { createFeatures, field, Path } from '@krmkit/meta'
 * import { errorsAt, restatedError } from '@krmkit/meta/validation'
 * const path = Path.of('uid')
 * const error = restatedError(field.invalid(path, '', 'must not be empty'), { since: '1.34', errors: [field.required(path)] })
 * error.message // 'Invalid value: "": must not be empty'
 * errorsAt([error], createFeatures('1.34').release)[0]?.message // 'Required value'
 */
export function restatedError(error: FieldError, restated: Restatement): FieldError {
  const { field, reason, message } = error
  return new PrintedError(field, { reason, message, body: PrintedError.bodyOf(error), restated })
}

/**
 * The same error at another path.
 *
 * @example
 * import { field, Path } from '@krmkit/meta'
 * import { relocatedError } from '@krmkit/meta/validation'
 * relocatedError(field.required(Path.of('size')), 'spec.size') // { field: 'spec.size', reason: 'FieldValueRequired', message: 'Required value' }
 */
export function relocatedError(error: FieldError, field: string): FieldError {
  const body = PrintedError.bodyOf(error)
  const { reason, message } = error
  return body === undefined ? { field, reason, message } : new PrintedError(field, { reason, message, body })
}

/**
 * Errors as a release states them: from 1.34 on values are JSON.
 *
 * @example
 * import { createFeatures, field, Path } from '@krmkit/meta'
 * import { errorsAt } from '@krmkit/meta/validation'
 * const errors = [field.invalid(Path.of('list'), ['a'], 'too short')]
 * errorsAt(errors, createFeatures('1.33').release)[0]?.message // 'Invalid value: []interface {}{"a"}: too short'
 * errorsAt(errors, createFeatures('1.34').release)[0]?.message // 'Invalid value: ["a"]: too short'
 */
export function errorsAt(errors: readonly FieldError[], release: Features['release']): readonly FieldError[] {
  if (!release.atLeast('1.34')) return errors
  return errors.slice(0, maxFieldErrors).flatMap((error) => statedAt(error, release))
}

function statedAt(error: FieldError, release: Features['release']): readonly FieldError[] {
  const restated = PrintedError.restatementOf(error)
  if (restated !== undefined && release.atLeast(restated.since)) return errorsAt(restated.errors, release)
  const { field, reason } = error
  return [{ field, reason, message: messageOf(error) }]
}

const singular = /\b1 (byte|item)s$/

function messageOf(error: FieldError): string {
  const body = PrintedError.bodyOf(error)
  if (body !== undefined) {
    const text = `${body.label}: ${printJson(body.value)}`
    return body.detail === '' ? text : `${text}: ${truncateGoText(body.detail)}`
  }
  const counts = error.reason === 'FieldValueTooLong' || error.reason === 'FieldValueTooMany'
  return counts ? error.message.replace(singular, '1 $1') : error.message
}

/** Texts and numbers print as before; everything else is JSON. */
function printJson(value: unknown): string {
  if (typeof value === 'string') return goQuoteShort(value)
  return typeof value === 'number' ? goNumber(value) : truncateGoText(goJson(value))
}
