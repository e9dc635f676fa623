import { type DeepReadonly, type FieldError, field, Path } from '@krmkit/meta'
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  JSONSchemaProps,
  SelectableField,
} from '../../types/apiextensions-v1.generated.ts'

/** Sub-resources, printer columns, selectable fields and warnings of a version. */

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
  return (columns ?? []).flatMap((column, index) => validateColumn(column, path.index(index)))
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
  if (new TextEncoder().encode(deprecationWarning).length > maxWarningLength)
    errors.push(wrong(`must be <= ${maxWarningLength} characters long`))
  if (deprecationWarning === '') errors.push(wrong('must not be an empty string'))
  const unprintable = [...deprecationWarning].findIndex(
    (char) => /[\p{C}\p{Zl}\p{Zp}]/u.test(char) || (/\p{Zs}/u.test(char) && char !== ' '),
  )
  if (unprintable >= 0)
    errors.push(wrong(`must only contain printable UTF-8 characters; non-printable character found at index ${unprintable}`))
  return errors
}

const maxSelectableFields = 8

export function validateSelectableFields(
  fields: DeepReadonly<SelectableField[]> | undefined,
  schema: DeepReadonly<JSONSchemaProps> | undefined,
  path: Path,
): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [index, { jsonPath }] of (fields ?? []).entries()) {
    const at = path.index(index).child('jsonPath')
    if (jsonPath === '') {
      errors.push(field.required(at))
      continue
    }
    const found = fieldAt(jsonPath, schema)
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
    if (seen.has(found.path)) errors.push(field.duplicate(at, found.path))
    seen.add(found.path)
  }
  if (seen.size > maxSelectableFields) errors.push(field.tooMany(path, seen.size, maxSelectableFields))
  return errors
}

interface FoundField {
  readonly root: string
  readonly path: string
  readonly schema: DeepReadonly<JSONSchemaProps>
}

const segment = /^\.([a-zA-Z_][\w-]*)|^\['([^']*)'\]/

/** The schema of the field that a path names, by members alone. */
function fieldAt(text: string, schema: DeepReadonly<JSONSchemaProps> | undefined): FoundField | { readonly problem: string } {
  let rest = text
  let at = schema ?? {}
  let path: Path | undefined
  let root = ''
  while (rest !== '') {
    if (rest.startsWith('[') && !rest.startsWith("['")) return { problem: 'array notation is not allowed' }
    const found = segment.exec(rest)
    if (found === null)
      return {
        problem: rest.startsWith('.')
          ? `does not refer to a valid field: got '${text}'`
          : `expected [ or . but got: ${rest.split(/[.[]/, 1)[0]}`,
      }
    const name = (found[1] ?? found[2]) as string
    rest = rest.slice(found[0].length)
    const properties = at.properties ?? {}
    const additional = at.additionalProperties
    const next = Object.hasOwn(properties, name) ? properties[name] : typeof additional === 'object' ? additional : undefined
    if (next === undefined) return { problem: `does not refer to a valid field` }
    path = path === undefined ? Path.of(name) : Object.hasOwn(properties, name) ? path.child(name) : path.key(name)
    if (root === '') root = name
    at = next
  }
  return path === undefined ? { problem: 'must not be empty' } : { root, path: `.${String(path)}`, schema: at }
}
