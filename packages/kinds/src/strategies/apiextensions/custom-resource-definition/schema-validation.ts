import type { Work } from '@krmkit/base/work'
import { type DeepReadonly, type FieldError, field, type Path } from '@krmkit/meta'
import type { CustomResourceValidation } from '../../../types/apiextensions-v1.generated.ts'
import { type DefaultOptions, validateDefaults } from './default-validation.ts'
import { type ExpressionRuleOptions, validateExpressions } from './expression-validation.ts'
import { goSchema, isGoZero, schemaMembers } from './go-form.ts'
import { type Schema, withoutEmpties } from './schema.ts'
import { validateSchemaForm } from './schema-form.ts'
import { structuralProblem } from './schema-parts.ts'
import { validateStructural } from './structural-validation.ts'

/** Validation of the schema of a version. */

export interface ValidationOptions extends DefaultOptions {
  /** The version has the status sub-resource. */
  readonly status: boolean
  /** The schema must be structural: objects are pruned, or it uses keywords that only structural schemas may have. */
  readonly structural: boolean
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
): Work<FieldError[]> {
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
    const faults = structural.length > 0 ? structural : yield* validateDefaults(plain, at, options)
    errors.push(...faults)
    expressible = faults.length === 0
  }
  const form = yield* validateSchemaForm(schema, at)
  errors.push(...form.errors)
  if (expressible) errors.push(...(yield* validateExpressions(plain, at, { ...options.expressions, faulty: form.faulty })))
  return errors.length === 0 && unread !== undefined ? [field.invalid(at, '', unread)] : errors
}

/** With a status sub-resource, the root must be a plain object. Reports the first violation. */
function validateRootKeywords(schema: Schema, path: Path): FieldError[] {
  for (const [name, keyword, print] of schemaMembers) {
    const value = schema[keyword]
    if (isGoZero(print, value)) continue
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
