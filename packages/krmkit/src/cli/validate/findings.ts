import type { FieldError } from '@krmkit/meta'
import type { TextRange } from '@krmkit/schema'
import type { ObjectName } from '../offline/objects.ts'

/** What validation finds. */

export type Severity = 'error' | 'warning'

/** What is wrong, as a rule that reports group by. */
export type RuleId = keyof typeof rules

/** Each rule in one sentence. */
export const rules = {
  'unreadable-file': 'A file or folder cannot be read.',
  syntax: 'The text is neither YAML nor JSON.',
  'no-object': 'A document is not an object.',
  'missing-kind': 'An object does not say what it is: apiVersion or kind is missing.',
  'unknown-kind': 'No kind of that name exists in that version.',
  'missing-definition': 'A custom resource is not defined by any of the files.',
  'removed-version': 'The release does not have that version of the kind.',
  'unchecked-kind': 'The release has the kind, but its fields are not known.',
  'unserved-version': 'The version is not served unless it is switched on.',
  'deprecated-version': 'The version is deprecated.',
  type: 'A value has another type than its field.',
  value: 'A text cannot be read as a quantity, time, or base64.',
  'unknown-field': 'A field does not exist.',
  'duplicate-field': 'A field is set twice in one object.',
  required: 'A field that must be set is not.',
  invalid: 'A value breaks a rule of its field.',
  'not-supported': 'A value is not one of those that its field allows.',
  forbidden: 'A field must not be set there.',
  duplicate: 'A value that must be unique is there twice.',
  'too-long': 'A text or list is longer than allowed.',
  'too-many': 'There are more items than allowed.',
  'not-found': 'A value refers to something that is not there.',
  'no-namespace': 'A namespace is given to an object that lives in none.',
  'duplicate-object': 'Two documents describe the same object.',
  questionable: 'The server would accept it with a warning.',
  internal: 'Validation itself failed.',
} as const satisfies Readonly<Record<string, string>>

/** A problem of one object. */
export interface Problem {
  readonly rule: RuleId
  readonly severity: Severity
  /** `spec.containers[0].image`, from the root of the object; empty for the object as a whole. */
  readonly path: string
  /** For people, without the path. */
  readonly message: string
  /** The problem is the member itself rather than its value. */
  readonly aboutName?: boolean
}

/** A problem and where it is. */
export interface Finding extends Omit<Problem, 'aboutName'> {
  readonly file: string
  /** Which document of the file, from 1. */
  readonly document?: number
  readonly range?: TextRange
  readonly object?: ObjectName
}

const reasons: Readonly<Record<FieldError['reason'], RuleId>> = {
  FieldValueNotFound: 'not-found',
  FieldValueRequired: 'required',
  FieldValueDuplicate: 'duplicate',
  FieldValueInvalid: 'invalid',
  FieldValueNotSupported: 'not-supported',
  FieldValueForbidden: 'forbidden',
  FieldValueTooLong: 'too-long',
  FieldValueTooMany: 'too-many',
  InternalError: 'internal',
  FieldValueTypeInvalid: 'type',
}

/** A refusal of the server as a problem. */
export function problemOf({ field, reason, message }: FieldError): Problem {
  return { rule: reasons[reason], severity: 'error', path: field === '<nil>' ? '' : field, message }
}

/** Totals of a run. */
export interface Summary {
  readonly files: number
  readonly objects: number
  readonly errors: number
  readonly warnings: number
  /** Objects of unknown kinds that were let pass, and of kinds whose fields are not known. */
  readonly unchecked: number
}
