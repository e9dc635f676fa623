/** Field errors as each release states them. */

import { goJson } from '../go-json.ts'
import { goNumber, goQuoteShort, truncateGoText } from '../go-text.ts'
import type { Features, FieldError } from '../interfaces.ts'
import { maxFieldErrors } from './error-list.ts'

/** In place of a value that an error does not show. */
export const omittedValue: unique symbol = Symbol('omitted value')

/** What the message of an error is made of. */
export interface ErrorBody {
  readonly label: string
  readonly value: unknown
  readonly detail: string
}

/** What an error is from a release on. */
export interface Restatement {
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
  readonly #restated: readonly Restatement[]

  constructor(
    field: string,
    {
      reason,
      message,
      body,
      restated,
    }: Pick<FieldError, 'reason' | 'message'> & {
      readonly body?: ErrorBody | undefined
      readonly restated?: readonly Restatement[]
    },
  ) {
    this.field = field
    this.reason = reason
    this.message = message
    this.#body = body
    this.#restated = restated ?? []
  }

  static bodyOf(error: FieldError): ErrorBody | undefined {
    return #body in error ? error.#body : undefined
  }

  static restatementsOf(error: FieldError): readonly Restatement[] {
    return #restated in error ? error.#restated : []
  }
}

/**
 * An error that is stated as others from a release on.
 *
 * @param restated oldest first
 *
 * @example
 * import { createFeatures, field, Path } from '@krmkit/meta'
 * import { errorsAt, restatedError } from '@krmkit/meta/validation'
 * const path = Path.of('uid')
 * const error = restatedError(field.invalid(path, '', 'must not be empty'), { since: '1.34', errors: [field.required(path)] })
 * error.message // 'Invalid value: "": must not be empty'
 * errorsAt([error], createFeatures('1.34').release)[0]?.message // 'Required value'
 */
export function restatedError(error: FieldError, ...restated: readonly Restatement[]): FieldError {
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
  const restated = PrintedError.restatementsOf(error).findLast(({ since }) => release.atLeast(since))
  if (restated !== undefined) return errorsAt(restated.errors, release)
  const { field, reason } = error
  return [{ field, reason, message: messageOf(error, release) }]
}

/** Texts of name formats that moved: from a release on, a detail that begins with the first text has the second. */
const movedDetails: readonly (readonly [since: string, begin: string, before: string, after: string])[] = [
  [
    '1.34',
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_',",
    "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'",
    "used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*'",
  ],
  ['1.35', 'a qualified name must consist', 'a qualified name', 'a valid label key'],
  ['1.35', 'name part must be no more than', 'characters', 'bytes'],
]

function detailAt(detail: string, release: Features['release']): string {
  for (const [since, begin, before, after] of movedDetails) {
    if (detail.startsWith(begin) && release.atLeast(since)) return detail.replace(before, after)
  }
  return detail
}

/** Details that a missing value has no longer: the release from which on, the detail, and the fields if not all. */
const droppedDetails: ReadonlyMap<string, { readonly since: string; readonly of?: RegExp }> = new Map([
  ...[
    'cannot be empty',
    'kind is required',
    'message cannot be empty',
    'name is required',
    'reason cannot be empty',
    'service name is required',
    'service namespace is required',
  ].map((detail) => [detail, { since: '1.34' }] as const),
  ['at least one validation action is required', { since: '1.36' }],
  ['must contain at least 1 address', { since: '1.36' }],
  ['verbs must contain at least one value', { since: '1.36', of: /^rules\[/ }],
])

const required = 'Required value'

/** The message of a missing value, without a detail that the release does not state. */
function requiredMessage({ field, message }: FieldError, release: Features['release']): string {
  const dropped = droppedDetails.get(message.slice(required.length + 2))
  const isDropped = dropped !== undefined && release.atLeast(dropped.since) && dropped.of?.test(field) !== false
  return isDropped ? required : message
}

const singular = /\b1 (byte|item)s$/

function messageOf(error: FieldError, release: Features['release']): string {
  const body = PrintedError.bodyOf(error)
  if (body !== undefined) {
    const text = body.value === omittedValue ? body.label : `${body.label}: ${printJson(body.value)}`
    return body.detail === '' ? text : `${text}: ${truncateGoText(detailAt(body.detail, release))}`
  }
  if (error.reason === 'FieldValueRequired') return requiredMessage(error, release)
  const counts = error.reason === 'FieldValueTooLong' || error.reason === 'FieldValueTooMany'
  return counts ? error.message.replace(singular, '1 $1') : error.message
}

/** Texts and numbers print as before; everything else is JSON. */
function printJson(value: unknown): string {
  if (typeof value === 'string') return goQuoteShort(value)
  return typeof value === 'number' ? goNumber(value) : truncateGoText(goJson(value))
}
