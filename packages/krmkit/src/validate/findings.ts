import type { FieldError } from '@krmkit/meta'
import type { TextRange } from '@krmkit/schema/manifest'
import type { ManifestObjectName } from '@krmkit/versioning'

/** Findings of validation and their rules. */

export type Severity = 'error' | 'warning'

/** The rule of a finding, by which reports group findings. */
export type ValidationRule = keyof typeof validationRules

/**
 * Descriptions of the rules, by their ids.
 *
 * @example
 * import { validationRules } from 'krmkit/validate'
 * validationRules['unknown-field'] // 'A field does not exist.'
 */
export const validationRules = {
  'unreadable-file': 'A file or folder cannot be read.',
  syntax: 'The text is neither YAML nor JSON.',
  'no-object': 'A document is not an object.',
  'missing-kind': 'An object has no apiVersion or no kind.',
  'unknown-kind': 'The version has no kind of this name.',
  'missing-definition': 'A custom resource is not defined by any of the files, nor by a cluster or catalog.',
  'unreadable-definition': 'The definition of a custom resource cannot be read from a cluster or catalog.',
  'removed-version': 'The release does not serve this version of the kind.',
  'unchecked-kind': 'The release has the kind, but its type is not available.',
  'unserved-version': 'The version is not served by default.',
  'deprecated-version': 'The version is deprecated.',
  type: 'A value has another type than its field.',
  value: 'A text is not a valid quantity, time or base64 value.',
  'unknown-field': 'A field does not exist.',
  'duplicate-field': 'A field is set twice in one object.',
  required: 'A required field is not set.',
  invalid: 'A value violates a rule of its field.',
  'not-supported': 'A value is not one of the allowed values.',
  forbidden: 'A field must not be set there.',
  duplicate: 'A value that must be unique occurs twice.',
  'too-long': 'A text or list is longer than allowed.',
  'too-many': 'A list or map has more items than allowed.',
  'too-few': 'A list or map has fewer items than required.',
  'too-short': 'A text is shorter than required.',
  'not-found': 'A value refers to something that does not exist.',
  'no-namespace': 'A cluster-scoped object has a namespace.',
  'duplicate-object': 'Two documents describe the same object.',
  questionable: 'The server would accept it with a warning.',
  internal: 'Validation itself failed.',
} as const satisfies Readonly<Record<string, string>>

/** A problem of one object. */
export interface Problem {
  readonly rule: ValidationRule
  readonly severity: Severity
  /** Path from the root of the object, such as `spec.containers[0].image`; empty for the whole object. */
  readonly path: string
  /** The message without the path. */
  readonly message: string
  /** Whether the problem concerns the name of the field, not its value. */
  readonly aboutName?: boolean
  /** New values of members of the object, by path, that fix the problem. */
  readonly replacements?: Readonly<Record<string, string>>
}

/** A change of a text. */
export interface SuggestedEdit {
  readonly range: TextRange
  /** The text that replaces the range. */
  readonly text: string
}

/** A change that probably fixes the problem. */
export interface Suggestion {
  /** Description of the change: `Replace imagee by image`. */
  readonly title: string
  /** Edits of the file, which do not overlap. */
  readonly edits: readonly SuggestedEdit[]
}

/** A problem with its position. */
export interface ValidationFinding extends Omit<Problem, 'aboutName' | 'replacements'> {
  /** The path of the file, as given. */
  readonly file: string
  /** Number of the document in the file, from 1. */
  readonly document?: number
  /** Lines and columns count from 1, columns in UTF-16 units; the end is exclusive. */
  readonly range?: TextRange
  readonly object?: ManifestObjectName
  readonly suggestion?: Suggestion
}

const reasons: Readonly<Record<FieldError['reason'], ValidationRule>> = {
  FieldValueNotFound: 'not-found',
  FieldValueRequired: 'required',
  FieldValueDuplicate: 'duplicate',
  FieldValueInvalid: 'invalid',
  FieldValueNotSupported: 'not-supported',
  FieldValueForbidden: 'forbidden',
  FieldValueTooLong: 'too-long',
  FieldValueTooMany: 'too-many',
  FieldValueTooFew: 'too-few',
  FieldValueTooShort: 'too-short',
  InternalError: 'internal',
  FieldValueTypeInvalid: 'type',
}

/** Converts a validation error of the server to a problem. */
export function problemOf({ field, reason, message }: FieldError): Problem {
  return { rule: reasons[reason], severity: 'error', path: field === '<nil>' ? '' : field, message }
}

/** Totals of a run. */
export interface ValidationSummary {
  readonly files: number
  readonly objects: number
  readonly errors: number
  readonly warnings: number
  /** Number of accepted objects whose kind is unknown or whose type is not available. */
  readonly unchecked: number
  /** Number of findings in the baseline, which are not reported. */
  readonly known: number
}
