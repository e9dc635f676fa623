import { type DeepReadonly, type FieldError, field, isJsonObject, type Path } from '@krmkit/meta'
import type { StructType } from '@krmkit/schema'
import type { CustomResourceValidation } from '../../../types/apiextensions-v1.generated.ts'
import { validateDefaults } from './default-validation.ts'
import { type ExpressionRuleOptions, validateExpressions } from './expression-validation.ts'
import { goSchema, schemaMembers } from './go-form.ts'
import { type Schema, type Steps, withoutEmpties } from './schema.ts'
import { validateSchemaForm } from './schema-form.ts'
import { validateStructural } from './structural-validation.ts'

/** Validation of the schema of a version. */

export interface ValidationOptions {
  /** The version has the status sub-resource. */
  readonly status: boolean
  /** The schema must be structural: objects are pruned, or it uses keywords that only structural schemas may have. */
  readonly structural: boolean
  readonly objectMeta: () => StructType
  readonly expressions: Pick<ExpressionRuleOptions, 'environment' | 'unchanged'>
}

// biome-ignore format: a table
const allowedAtRoot = [
  'Description', 'Type', 'Format', 'Title', 'Maximum', 'ExclusiveMaximum', 'Minimum', 'ExclusiveMinimum', 'MaxLength', 'MinLength', 'Pattern',
  'MaxItems', 'MinItems', 'UniqueItems', 'MultipleOf', 'Required', 'Items', 'Properties', 'ExternalDocs', 'Example', 'XPreserveUnknownFields',
  'XValidations',
]

export function* validateSchema(
  validation: DeepReadonly<CustomResourceValidation> | undefined,
  path: Path,
  options: ValidationOptions,
): Steps<FieldError[]> {
  const schema = validation?.openAPIV3Schema as Schema | undefined
  if (schema === undefined || schema === null) return []
  const errors: FieldError[] = []
  if (options.status) errors.push(...validateRootKeywords(schema, path))
  if (schema.nullable === true)
    errors.push(field.forbidden(path.child('openAPIV3Schema.nullable'), 'nullable cannot be true at the root'))
  const at = path.child('openAPIV3Schema')
  const unread = options.structural ? yield* structuralProblem(schema) : undefined
  let expressible = options.structural && unread === undefined
  const plain = yield* withoutEmpties(schema)
  if (expressible) {
    const structural = yield* validateStructural(schema, at)
    const faults = structural.length > 0 ? structural : yield* validateDefaults(plain, at, options.objectMeta)
    errors.push(...faults)
    expressible = faults.length === 0
  }
  const faults = yield* validateSchemaForm(schema, at)
  errors.push(...faults)
  if (expressible) errors.push(...(yield* validateExpressions(plain, at, { ...options.expressions, faults })))
  return errors.length === 0 && unread !== undefined ? [field.invalid(at, '', unread)] : errors
}

/** Whether a value in the schema has a default. */
export function* hasDefaults(schema: Schema | undefined): Steps<boolean> {
  yield
  if (schema === undefined) return false
  if (schema.default !== undefined && schema.default !== null) return true
  for (const inner of innerSchemas(schema)) if (yield* hasDefaults(inner)) return true
  return false
}

const unsupported = ['id', '$schema', '$ref', 'patternProperties', 'dependencies', 'additionalItems', 'definitions'] as const

/** Reason why the schema cannot be checked for structure; reported if the keywords have no other error. */
export function* structuralProblem(schema: Schema): Steps<string | undefined> {
  yield
  const keyword = unsupported.find((name) => (name === 'additionalItems' ? schema[name] !== undefined : isGiven(schema[name])))
  if (keyword !== undefined) return `OpenAPIV3Schema '${keyword === '$schema' ? 'schema' : keyword}' is not supported`
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
  if (Array.isArray(schema.items) && schema.items.length > 0) return "OpenAPIV3Schema 'items' must be a schema, but is an array"
  for (const inner of innerSchemas(schema)) {
    const problem = yield* structuralProblem(inner)
    if (problem !== undefined) return problem
  }
  return undefined
}

function isGiven(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

function innerSchemas({ items, additionalProperties: rest, not, properties, allOf, anyOf, oneOf }: Schema): readonly Schema[] {
  const single = [not, rest, items].filter(isJsonObject)
  return [...(single as Schema[]), ...(allOf ?? []), ...(anyOf ?? []), ...(oneOf ?? []), ...Object.values(properties ?? {})]
}

/** With a status sub-resource, the root must be a plain object. Reports the first violation. */
function validateRootKeywords(schema: Schema, path: Path): FieldError[] {
  for (const [name, keyword] of schemaMembers) {
    const value = schema[keyword]
    if (value === undefined || value === null || value === '') continue
    if (value === false && keyword !== 'additionalProperties' && keyword !== 'x-kubernetes-preserve-unknown-fields') continue
    if (keyword === 'type') {
      if (value === 'object') continue
      const detail = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
      return [field.invalid(path.child('openAPIV3Schema.type'), value, detail)]
    }
    if (!allowedAtRoot.includes(name)) {
      const detail = `only [${allowedAtRoot.join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`
      return [field.invalid(path.child('openAPIV3Schema'), goSchema(schema), detail)]
    }
  }
  return []
}
