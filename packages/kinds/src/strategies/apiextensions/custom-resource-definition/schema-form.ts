import type { Work } from '@krmkit/base/work'
import { type FieldError, field, isJsonObject, type Path } from '@krmkit/meta'
import { collectErrors } from '@krmkit/meta/paced'
import { validateListMarkers } from './list-markers.ts'
import { validateRuleTexts } from './rule-texts.ts'
import { type Schema, sortedNames } from './schema.ts'

/** Rules for the OpenAPI keywords that a schema may use. */

interface SchemaContext {
  readonly root: boolean
  /** Within the metadata of an object. */
  readonly metadata: boolean
  /** Reason why defaults are forbidden here. */
  readonly noDefaults: string | undefined
  readonly faulty: Set<string>
}

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string']
const objectMembers = ['apiVersion', 'kind', 'metadata']

/** The errors, and the paths of the schemas that have some or contain a schema that does. */
export interface SchemaFormErrors {
  readonly errors: FieldError[]
  readonly faulty: ReadonlySet<string>
}

export function* validateSchemaForm(schema: Schema, path: Path): Work<SchemaFormErrors> {
  const faulty = new Set<string>()
  const errors = yield* collectErrors((errors) =>
    validate(schema, path, { root: true, metadata: false, noDefaults: undefined, faulty }, errors),
  )
  return { errors, faulty }
}

function* validate(schema: Schema, path: Path, context: SchemaContext, errors: FieldError[]): Work {
  const before = errors.length
  try {
    yield* validateKeywords(schema, path, context, errors)
  } finally {
    if (errors.length > before) context.faulty.add(String(path))
  }
}

function* validateKeywords(schema: Schema, path: Path, context: SchemaContext, errors: FieldError[]): Work {
  yield
  errors.push(...validateForbiddenKeywords(schema, path, context))
  const inner = { ...context, root: false }
  if (schema.uniqueItems === true) {
    errors.push(
      field.forbidden(
        path.child('uniqueItems'),
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    )
  }
  const { additionalProperties: additional, properties } = schema
  const names = yield* sortedNames(properties)
  if (additional !== undefined && additional !== null) {
    if (names.length > 0 && additional !== true) {
      errors.push(field.forbidden(path.child('additionalProperties'), 'additionalProperties and properties are mutual exclusive'))
    }
    if (typeof additional === 'object') {
      const strict = context.metadata
        ? { ...inner, noDefaults: 'inside additionalProperties applying to object metadata' }
        : inner
      yield* validate(additional, path.child('additionalProperties'), strict, errors)
    }
  }
  for (const name of names) {
    const property = properties?.[name] as Schema
    const special = (context.root || schema['x-kubernetes-embedded-resource'] === true) && objectMembers.includes(name)
    const at = special ? { ...inner, metadata: true, ...(context.root ? { noDefaults: `in top-level ${name}` } : {}) } : inner
    yield* validate(property, path.child('properties').key(name), at, errors)
  }
  if (schema.not !== undefined) yield* validate(schema.not, path.child('not'), inner, errors)
  for (const keyword of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [index, branch] of (schema[keyword] ?? []).entries())
      yield* validate(branch, path.child(keyword).index(index), inner, errors)
  }
  for (const [name, definition] of Object.entries(schema.definitions ?? {}))
    yield* validate(definition, path.child('definitions').key(name), inner, errors)
  const { items } = schema
  if (Array.isArray(items)) {
    for (const [index, item] of (items as readonly Schema[]).entries())
      yield* validate(item, path.child('items').index(index), inner, errors)
  } else if (items !== undefined && items !== null) yield* validate(items as Schema, path.child('items'), inner, errors)
  for (const name of yield* sortedNames(schema.dependencies)) {
    const dependency = schema.dependencies?.[name]
    if (isJsonObject(dependency)) yield* validate(dependency as Schema, path.child('dependencies').key(name), inner, errors)
  }
  errors.push(...validateListMarkers(schema, path), ...validateRuleTexts(schema, path))
}

/** Errors for keywords that are set but not supported. */
function validateForbiddenKeywords(schema: Schema, path: Path, { metadata, noDefaults }: SchemaContext): FieldError[] {
  const errors: FieldError[] = []
  const forbid = (keyword: string, detail = `${keyword} is not supported`) =>
    errors.push(field.forbidden(path.child(keyword), detail))
  if (schema.type !== undefined && schema.type !== '' && !types.includes(schema.type)) {
    errors.push(field.notSupported(path.child('type'), schema.type, types))
  }
  if (noDefaults !== undefined && schema.default !== undefined && schema.default !== null)
    forbid('default', `must not be set ${noDefaults}`)
  if ((schema.id ?? '') !== '') forbid('id')
  if (schema.additionalItems !== undefined) forbid('additionalItems')
  if (Object.keys(schema.patternProperties ?? {}).length > 0) forbid('patternProperties')
  if (Object.keys(schema.definitions ?? {}).length > 0) forbid('definitions')
  if (schema.dependencies !== undefined) forbid('dependencies')
  if (schema.$ref !== undefined) forbid('$ref')
  if (schema.type === 'null') forbid('type', 'type cannot be set to null, use nullable as an alternative')
  if (Array.isArray(schema.items) && schema.items.length > 0) forbid('items', 'items must be a schema object and not an array')
  if (metadata && schema['x-kubernetes-embedded-resource'] === true)
    forbid('x-kubernetes-embedded-resource', 'must not be used inside of resource meta')
  return errors
}
