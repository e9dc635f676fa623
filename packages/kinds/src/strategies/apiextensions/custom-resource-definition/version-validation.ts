import { type DeepReadonly, type FieldError, field, type Path } from '@krmkit/meta'
import { isPrintable, utf8Length } from '@krmkit/meta/go-text'
import { addErrors, collectErrors } from '@krmkit/meta/validation'
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  JSONSchemaProps,
  SelectableField,
} from '../../../types/apiextensions-v1.generated.ts'
import { fieldAt } from './rule-field-path.ts'

/** Validation of sub-resources, printer columns, selectable fields and warnings of a version. */

export function validateSubresources(
  subresources: DeepReadonly<CustomResourceSubresources> | undefined,
  path: Path,
): FieldError[] {
  const scale = subresources?.scale
  if (scale === undefined || scale === null) return []
  const errors: FieldError[] = []
  const check = (text: string | undefined, name: string, roots: readonly string[], where: string): void => {
    const at = path.child(`scale.${name}`)
    if (text === undefined || text === '') errors.push(field.required(at))
    else if (!text.startsWith('.')) errors.push(field.invalid(at, text, 'must be a simple json path starting with .'))
    else if (!roots.some((root) => text.startsWith(root)))
      errors.push(field.invalid(at, text, `should be a json path under ${where}`))
  }
  check(scale.specReplicasPath, 'specReplicasPath', ['.spec.'], '.spec')
  check(scale.statusReplicasPath, 'statusReplicasPath', ['.status.'], '.status')
  if ((scale.labelSelectorPath ?? '') !== '')
    check(scale.labelSelectorPath, 'labelSelectorPath', ['.status.', '.spec.'], 'either .spec or .status')
  return errors
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string']
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']

export function validateColumns(columns: DeepReadonly<CustomResourceColumnDefinition[]> | undefined, path: Path): FieldError[] {
  return collectErrors((errors) => {
    for (const [index, column] of (columns ?? []).entries()) addErrors(errors, validateColumn(column, path.index(index)))
  })
}

function validateColumn(column: DeepReadonly<CustomResourceColumnDefinition>, path: Path): FieldError[] {
  const errors: FieldError[] = []
  const { name, type, format = '', jsonPath } = column
  const types = `must be one of ${columnTypes.join(',')}`
  if (name === '') errors.push(field.required(path.child('name')))
  if (type === '') errors.push(field.required(path.child('type'), types))
  else if (!columnTypes.includes(type)) errors.push(field.invalid(path.child('type'), type, types))
  if (format !== '' && !columnFormats.includes(format))
    errors.push(field.invalid(path.child('format'), format, `must be one of ${columnFormats.join(',')}`))
  if (jsonPath === '') errors.push(field.required(path.child('JSONPath')))
  else if (!jsonPath.startsWith('.'))
    errors.push(field.invalid(path.child('JSONPath'), jsonPath, 'must be a simple json path starting with .'))
  return errors
}

type Version = DeepReadonly<CustomResourceDefinitionVersion>

const maxWarningLength = 256

export function validateWarning({ deprecated, deprecationWarning }: Version, path: Path): FieldError[] {
  if (deprecationWarning === undefined) return []
  const wrong = (detail: string) => field.invalid(path, deprecationWarning, detail)
  if (deprecated !== true) return [wrong('can only be set for deprecated versions')]
  const errors: FieldError[] = []
  if (utf8Length(deprecationWarning) > maxWarningLength) errors.push(wrong(`must be <= ${maxWarningLength} characters long`))
  if (deprecationWarning === '') errors.push(wrong('must not be an empty string'))
  const chars = [...deprecationWarning]
  const unprintable = chars.findIndex((char) => !isPrintable(char))
  if (unprintable >= 0) {
    const index = utf8Length(chars.slice(0, unprintable).join(''))
    errors.push(wrong(`must only contain printable UTF-8 characters; non-printable character found at index ${index}`))
  }
  return errors
}

const maxSelectableFields = 8

export function validateSelectableFields(
  fields: DeepReadonly<SelectableField[]> | undefined,
  schema: DeepReadonly<JSONSchemaProps> | undefined,
  path: Path,
): FieldError[] {
  return collectErrors((errors) => {
    const seen = new Set<string>()
    for (const [index, { jsonPath }] of (fields ?? []).entries()) {
      const at = path.index(index).child('jsonPath')
      if (jsonPath === '') {
        errors.push(field.required(at))
        continue
      }
      const found = fieldAt(jsonPath, schema ?? {}, { brackets: false })
      if ('problem' in found) {
        errors.push(field.invalid(at, jsonPath, `is an invalid path: ${found.problem}`))
        continue
      }
      if (found.root === 'metadata') errors.push(field.invalid(at, jsonPath, 'must not point to fields in metadata'))
      if (!['string', 'boolean', 'integer'].includes(found.schema.type ?? '')) {
        errors.push(
          field.invalid(
            at,
            jsonPath,
            'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
          ),
        )
      }
      if (seen.has(found.text)) errors.push(field.duplicate(at, jsonPath))
      seen.add(found.text)
    }
    if (seen.size > maxSelectableFields) errors.push(field.tooMany(path, seen.size, maxSelectableFields))
  })
}
