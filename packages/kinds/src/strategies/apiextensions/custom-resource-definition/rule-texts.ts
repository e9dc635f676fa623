import { runAtOnce } from '@krmkit/base/work'
import { type DeepReadonly, type FieldError, field, type Path } from '@krmkit/meta'
import { trimSpace } from '@krmkit/meta/go-text'
import { addErrors, collectErrors, restatedError } from '@krmkit/meta/validation'
import type { ValidationRule } from '../../../types/apiextensions-v1.generated.ts'
import { fieldAt } from './rule-field-path.ts'
import type { Schema } from './schema.ts'
import { structuralProblem } from './schema-parts.ts'

/** Rules for the texts of `x-kubernetes-validations` that do not need compilation. */

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']

export function validateRuleTexts(schema: Schema, path: Path): FieldError[] {
  const rules = schema['x-kubernetes-validations'] ?? []
  const at = path.child('x-kubernetes-validations')
  return collectErrors((errors) => {
    for (const [index, rule] of rules.entries()) addErrors(errors, validateRule(rule, schema, at.index(index)))
  })
}

function validateRule(rule: DeepReadonly<ValidationRule>, schema: Schema, path: Path): FieldError[] {
  const errors: FieldError[] = []
  const { message = '', messageExpression = '', reason, fieldPath = '' } = rule
  const expression = trimSpace(rule.rule ?? '')
  const text = trimSpace(message)
  const at = path.child('message')
  if (expression === '') errors.push(field.required(path.child('rule'), 'rule is not specified'))
  else if (message !== '' && text === '') errors.push(subjectless(at, message, 'message must be non-empty if specified'))
  else if (hasBreaks(text)) errors.push(subjectless(at, message, 'message must not contain line breaks'))
  else if (hasBreaks(expression) && text === '')
    errors.push(field.required(at, 'message must be specified if rule contains line breaks'))
  if (messageExpression !== '' && trimSpace(messageExpression) === '')
    errors.push(field.required(path.child('messageExpression'), 'messageExpression must be non-empty if specified'))
  if (reason !== undefined && reason !== null && !reasons.includes(reason))
    errors.push(field.notSupported(path.child('reason'), reason, reasons))
  if (fieldPath !== '') errors.push(...validateFieldPath(fieldPath, schema, path.child('fieldPath')))
  return errors
}

function validateFieldPath(text: string, schema: Schema, path: Path): FieldError[] {
  const errors: FieldError[] = []
  if (trimSpace(text) === '') errors.push(subjectless(path, text, 'fieldPath must be non-empty if specified'))
  if (hasBreaks(text)) errors.push(subjectless(path, text, 'fieldPath must not contain line breaks'))
  // Fields of a schema that is not structural are not looked up.
  if ('problem' in fieldAt(text, schema, { brackets: true }) && runAtOnce(structuralProblem(schema)) === undefined)
    errors.push(subjectless(path, text, 'fieldPath must be a valid path'))
  return errors
}

/** From 1.34 on the detail does not begin with the name of the field. */
function subjectless(path: Path, value: string, detail: string): FieldError {
  const later = field.invalid(path, value, detail.slice(detail.indexOf(' ') + 1))
  return restatedError(field.invalid(path, value, detail), { since: '1.34', errors: [later] })
}

function hasBreaks(text: string): boolean {
  return /[\n\r]/.test(text)
}
