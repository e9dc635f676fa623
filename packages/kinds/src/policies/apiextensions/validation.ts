import { type DeepReadonly, type FieldError, field, type Path } from '@krmkit/meta'
import type { StructType } from '@krmkit/schema'
import type { CustomResourceValidation } from '../../types/apiextensions-v1.generated.ts'
import { validateDefaults } from './default-rules.ts'
import { type Schema, validateSchemaForm } from './schema-form.ts'
import { validateStructural } from './structural-rules.ts'

/** The schema of a version. */

export interface ValidationOptions {
  /** The version has the status sub-resource. */
  readonly status: boolean
  /** Objects are pruned, or the schema says something that only structural schemas can. */
  readonly structural: boolean
  readonly objectMeta: () => StructType
}

// biome-ignore format: a table
const allowedAtRoot = [
  'Description', 'Type', 'Format', 'Title', 'Maximum', 'ExclusiveMaximum', 'Minimum', 'ExclusiveMinimum', 'MaxLength', 'MinLength', 'Pattern',
  'MaxItems', 'MinItems', 'UniqueItems', 'MultipleOf', 'Required', 'Items', 'Properties', 'ExternalDocs', 'Example', 'XPreserveUnknownFields',
  'XValidations',
]

export function validateValidation(
  validation: DeepReadonly<CustomResourceValidation> | undefined,
  path: Path,
  options: ValidationOptions,
): FieldError[] {
  const schema = validation?.openAPIV3Schema as Schema | undefined
  if (schema === undefined || schema === null) return []
  const errors: FieldError[] = []
  if (options.status) errors.push(...rootKeywords(schema, path))
  if (schema.nullable === true)
    errors.push(field.forbidden(path.child('openAPIV3Schema.nullable'), 'nullable cannot be true at the root'))
  const at = path.child('openAPIV3Schema')
  if (options.structural && !usesUnsupported(schema)) {
    const structural = validateStructural(schema, at)
    errors.push(...(structural.length > 0 ? structural : validateDefaults(schema, at, options.objectMeta)))
  }
  errors.push(...validateSchemaForm(schema, at))
  return errors
}

const unsupported = ['id', '$ref', 'additionalItems', 'patternProperties', 'definitions', 'dependencies'] as const

/** Some keyword makes it impossible to say whether the schema is structural; the keyword itself is told then. */
function usesUnsupported(schema: Schema): boolean {
  if (unsupported.some((keyword) => schema[keyword] !== undefined) || (Array.isArray(schema.items) && schema.items.length > 0))
    return true
  const { items, additionalProperties: additional, not, properties, allOf = [], anyOf = [], oneOf = [] } = schema
  const inner = [
    ...Object.values(properties ?? {}),
    ...allOf,
    ...anyOf,
    ...oneOf,
    ...[items, additional, not].filter((each) => typeof each === 'object' && each !== null),
  ]
  return inner.some((each) => usesUnsupported(each as Schema))
}

/** With a status sub-resource nothing but a plain object may stand at the root. */
function rootKeywords(schema: Schema, path: Path): FieldError[] {
  for (const [keyword, value] of Object.entries(schema)) {
    if (value === undefined || value === null || value === false || value === '') continue
    if (keyword === 'type') {
      if (value === 'object') continue
      const detail = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
      return [field.invalid(path.child('openAPIV3Schema.type'), value, detail)]
    }
    if (!allowedAtRoot.includes(goName(keyword))) {
      const detail = `only [${allowedAtRoot.join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`
      return [field.invalid(path.child('openAPIV3Schema'), schema, detail)]
    }
  }
  return []
}

/** `x-kubernetes-list-type` -> `XListType`, `maxLength` -> `MaxLength` */
function goName(keyword: string): string {
  const words = keyword.startsWith('x-kubernetes-') ? ['x', ...keyword.slice('x-kubernetes-'.length).split('-')] : [keyword]
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')
}
