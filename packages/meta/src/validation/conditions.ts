/** Validation of `status.conditions` of the common type. */

import { utf8Length } from '../go-text.ts'
import type { FieldError } from '../interfaces.ts'
import { formatRegexError } from '../names/name-formats.ts'
import { collectErrors } from './error-list.direct.ts'
import { field } from './field-error.ts'
import { validateLabelName } from './object-meta.ts'
import type { Path } from './path.ts'
import { restatedError } from './printed-error.ts'

/** An observation of an object's state. */
export interface Condition {
  readonly type: string
  /** `True`, `False` or `Unknown`. */
  readonly status: string
  /** The observed generation of the object. */
  readonly observedGeneration?: number
  /** RFC 3339 timestamp of the last change of `status`. */
  readonly lastTransitionTime: string | null
  /** A CamelCase identifier for programs. */
  readonly reason: string
  /** A message for people. */
  readonly message: string
}

const maxReasonLength = 1024
const maxMessageLength = 32 * 1024
const reasonFormat = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?'
const reason = /^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/

/**
 * Requires unique types and complete conditions.
 *
 * @example
 * import { Path } from '@krmkit/meta'
 * import { validateConditions } from '@krmkit/meta/validation'
 * const ready = { type: 'Ready', status: 'True', reason: 'Started', message: '' }
 * const [error] = validateConditions([ready], Path.of('status').child('conditions'))
 * error?.field // 'status.conditions[0].lastTransitionTime'
 */
export function validateConditions(conditions: readonly Partial<Condition>[] | null | undefined, path: Path): FieldError[] {
  if (conditions === undefined || conditions === null || conditions.length === 0) return []
  return collectErrors((errors) => {
    const types = new Set<string>()
    for (const [i, condition] of conditions.entries()) {
      const type = condition.type ?? ''
      if (types.has(type)) {
        const error = field.duplicate(path.index(i).child('type'), type)
        errors.push(restatedError(error, { since: '1.37', errors: [field.duplicate(path.index(i), type)] }))
      }
      types.add(type)
      errors.push(...validateCondition(condition, path.index(i)))
    }
  })
}

/** Validates one condition. */
export function validateCondition(condition: Partial<Condition>, path: Path): FieldError[] {
  const errors = validateType(condition.type ?? '', path.child('type'))
  const status = condition.status ?? ''
  if (status !== 'True' && status !== 'False' && status !== 'Unknown') {
    const error = field.notSupported(path.child('status'), status, ['False', 'True', 'Unknown'])
    errors.push(status === '' ? restatedError(error, { since: '1.37', errors: [field.required(path.child('status'))] }) : error)
  }
  const { observedGeneration = 0, lastTransitionTime, message = '' } = condition
  if (observedGeneration < 0) {
    errors.push(field.invalid(path.child('observedGeneration'), observedGeneration, 'must be greater than or equal to zero'))
  }
  if (!lastTransitionTime) errors.push(mustBeSet(path.child('lastTransitionTime')))
  validateReason(condition.reason ?? '', path.child('reason'), errors)
  if (utf8Length(message) > maxMessageLength) errors.push(field.tooLong(path.child('message'), message, maxMessageLength))
  return errors
}

/** From 1.37 on an empty type has one error, which stands for those of its name. */
function validateType(type: string, path: Path): FieldError[] {
  const [first, ...more] = validateLabelName(type, path)
  if (first === undefined || type !== '') return first === undefined ? [] : [first, ...more]
  const since = '1.37'
  return [
    restatedError(first, { since, errors: [field.required(path, 'is required')] }),
    ...more.map((error) => restatedError(error, { since, errors: [] })),
  ]
}

function mustBeSet(path: Path): FieldError {
  return restatedError(field.required(path, 'must be set'), { since: '1.34', errors: [field.required(path)] })
}

function validateReason(text: string, path: Path, errors: FieldError[]): void {
  if (text === '') {
    errors.push(mustBeSet(path))
    return
  }
  if (!reason.test(text)) {
    const words =
      "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'"
    const examples = ['my_name', 'MY_NAME', 'MyName', 'ReasonA,ReasonB', 'ReasonA:ReasonB']
    errors.push(field.invalid(path, text, formatRegexError(words, reasonFormat, ...examples)))
  }
  if (utf8Length(text) > maxReasonLength) errors.push(field.tooLong(path, text, maxReasonLength))
}
