import type { Work } from '@krmkit/base/work'
import { type DeepReadonly, type FieldError, field, nameRules, Path } from '@krmkit/meta'
import { validateDns1035Label, validateDns1123Subdomain } from '@krmkit/meta/names'
import { collectErrors, validateObjectMeta, validateObjectMetaUpdate } from '@krmkit/meta/paced'
import { type ErrorList, restatedError, validateImmutableField } from '@krmkit/meta/validation'
import { cel, createTypeSource, type StructType } from '@krmkit/schema'
import { metaTypes } from '../../../data/meta.generated.ts'
import type { StrategyContext } from '../../../interfaces.ts'
import type { CustomResourceDefinition, JSONSchemaProps } from '../../../types/apiextensions-v1.generated.ts'
import { firstByName } from '../../shared/values.ts'
import { validateApproval } from './approval.ts'
import { validateConversion } from './conversion.ts'
import { coerceDefaults } from './default-validation.ts'
import { expressionsOf } from './expression-validation.ts'
import { goVersions } from './go-form.ts'
import { internalForm, type VersionParts } from './internal-form.ts'
import { requireNames, validateNames } from './names.ts'
import { areSameSchemas } from './schema.ts'
import { hasDefaults, structuralProblem } from './schema-parts.ts'
import { type ValidationOptions, validateSchema } from './schema-validation.ts'
import { validateStatus, validateStoredVersions } from './status.ts'
import { validateColumns, validateSelectableFields, validateSubresources, validateWarning } from './version-validation.ts'

export { schemaWarnings } from './schema-warnings.ts'

/** The rules of CustomResourceDefinitions, a module that is loaded with the first of them. */

type Definition = DeepReadonly<CustomResourceDefinition>

const spec = Path.of('spec')

let metaType: StructType | undefined

/** The type of metadata, read on first use. */
function objectMeta(): StructType {
  metaType ??= createTypeSource({ meta: metaTypes }).struct('meta/v1.ObjectMeta')
  return metaType
}

/** Drops unknown fields of metadata from the defaults of embedded resources. */
export function* dropUnknownMetadata(schema: JSONSchemaProps | undefined): Work {
  if (schema !== undefined) yield* coerceDefaults(schema, objectMeta)
}

function validateMetadata(object: Definition): Work<FieldError[]> {
  const required = `${object.spec.names.plural}.${object.spec.group}`
  const name = (text: string, prefix: boolean): string[] => {
    const problems = nameRules.dns1123Subdomain(text, prefix)
    return text === required ? problems : [...problems, 'must be spec.names.plural+"."+spec.group']
  }
  return validateObjectMeta(object.metadata, { namespaced: false, name })
}

function* validateSpec(object: Definition, old: Definition | undefined, context: StrategyContext): Work<FieldError[]> {
  return yield* collectErrors(function* (errors) {
    const { names, conversion, preserveUnknownFields } = object.spec
    const { release } = context.features
    const versions = object.spec.versions ?? []
    const { shared, own } = yield* internalForm(object)
    const options = yield* expressionOptions(object, old, context)
    const structural = !(allowsLooseSchemas(context) && preserveUnknownFields === true)
    validateGroupAndScope(object, errors)
    const loose = allowsLooseSchemas(context)
    if (!loose && shared.schema?.openAPIV3Schema === undefined) requireSchemas(own, errors)
    if (preserveUnknownFields === true && (yield* someDefaults(versions))) {
      const at = spec.child('preserveUnknownFields')
      errors.push(field.invalid(at, true, 'must be false in order to use defaults in the schema'))
    }
    for (const [index, version] of versions.entries()) {
      const at = spec.child('versions').index(index)
      const problems = validateDns1035Label(version.name)
      if (problems.length > 0) errors.push(field.invalid(at.child('name'), version.name, problems.join(',')))
      errors.push(...validateWarning(version, at.child('deprecationWarning')))
      const status = version.subresources?.status !== undefined
      const expressions = options([version.name])
      errors.push(
        ...(yield* validateParts(own[index] as VersionParts, at, {
          schemaAt: 'schema',
          status,
          expressions,
          structural,
          release,
        })),
      )
    }
    validateVersionSet(object.spec.versions, own, errors)
    errors.push(...requireNames(names, spec.child('names')), ...validateNames(names, spec.child('names')))
    const status = versions.some(({ subresources }) => subresources?.status !== undefined)
    const expressions = options(versions.map(({ name }) => name))
    errors.push(...(yield* validateParts(shared, spec, { schemaAt: 'validation', status, expressions, structural, release })))
    if (preserveUnknownFields === true && conversion !== undefined && conversion.strategy !== 'None') {
      const at = spec.child('conversion').child('strategy')
      errors.push(field.invalid(at, conversion.strategy, 'must be None if spec.preserveUnknownFields is true'))
    }
    errors.push(...validateConversion(conversion, spec.child('conversion'), { context, old }))
  })
}

/** `v1beta1` requires no schema, and a structural one only where unknown fields are pruned. */
function allowsLooseSchemas({ requestVersion }: StrategyContext): boolean {
  return requestVersion?.version === 'v1beta1'
}

function* someDefaults(versions: NonNullable<Definition['spec']['versions']>): Work<boolean> {
  for (const { schema } of versions) if (yield* hasDefaults(schema?.openAPIV3Schema)) return true
  return false
}

/** Returns the options of the expressions in the schemas of the named versions. */
function* expressionOptions(
  object: Definition,
  old: Definition | undefined,
  context: StrategyContext,
): Work<(names: readonly string[]) => ValidationOptions['expressions']> {
  const stored = yield* expressionsOf(old)
  const environment = (expression: string) =>
    stored.has(expression) ? cel().storedExpressions : cel().newExpressions(context.features)
  const unchanged = yield* unchangedVersions(object, old)
  return (names) => ({ environment, unchanged: names.every((name) => unchanged.has(name)) })
}

/** The names of versions whose schema an update leaves as it is. */
function* unchangedVersions(object: Definition, old: Definition | undefined): Work<ReadonlySet<string>> {
  const unchanged = new Set<string>()
  if (old === undefined) return unchanged
  const schemas = firstByName(object.spec.versions ?? [])
  const oldSchemas = firstByName(old.spec.versions ?? [])
  for (const [name, { schema }] of schemas) {
    const before = oldSchemas.get(name)?.schema
    if (yield* areSameSchemas([schema?.openAPIV3Schema, before?.openAPIV3Schema])) unchanged.add(name)
  }
  return unchanged
}

function validateGroupAndScope({ spec: { group, scope } }: Definition, errors: ErrorList): void {
  if (group === '') errors.push(field.required(spec.child('group')))
  else {
    const problems = validateDns1123Subdomain(group)
    if (problems.length > 0) errors.push(field.invalid(spec.child('group'), group, problems.join(',')))
    else if (!group.includes('.'))
      errors.push(field.invalid(spec.child('group'), group, 'should be a domain with at least one dot'))
  }
  if (scope === '') errors.push(field.required(spec.child('scope')))
  else if (scope !== 'Cluster' && scope !== 'Namespaced')
    errors.push(field.notSupported(spec.child('scope'), scope, ['Cluster', 'Namespaced']))
}

function requireSchemas(versions: readonly VersionParts[], errors: ErrorList): void {
  for (const [index, { schema }] of versions.entries()) {
    if (schema?.openAPIV3Schema !== undefined) continue
    const at = spec.child('versions').index(index).child('schema').child('openAPIV3Schema')
    errors.push(restatedError(field.required(at, 'schemas are required'), { since: '1.34', errors: [field.required(at)] }))
  }
}

/** Unique names, one storage version, and a valid first name. */
function validateVersionSet(given: Definition['spec']['versions'], own: readonly VersionParts[], errors: ErrorList): void {
  const at = spec.child('versions')
  const versions = given ?? []
  if (new Set(versions.map(({ name }) => name)).size < versions.length) {
    errors.push(field.invalid(at, goVersions(given, own), 'must contain unique version names'))
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.push(field.invalid(at, goVersions(given, own), 'must have exactly one version marked as storage version'))
  }
  const [first] = versions
  const problems = first === undefined || first.name === '' ? [] : validateDns1035Label(first.name)
  if (problems.length > 0) errors.push(field.invalid(spec.child('version'), first?.name, problems.join(',')))
}

interface PartOptions {
  readonly schemaAt: 'schema' | 'validation'
  readonly status: boolean
  readonly structural: boolean
  readonly expressions: ValidationOptions['expressions']
  readonly release: ValidationOptions['release']
}

function* validateParts(
  parts: VersionParts,
  path: Path,
  { schemaAt, status, expressions, structural, release }: PartOptions,
): Work<FieldError[]> {
  const selectable = path.child('selectableFields')
  // A schema shared by all versions is ignored if fields are not shared, as on kube-apiserver, which takes `schema: {}` for one there.
  const [schema, unknown] =
    schemaAt === 'schema'
      ? [
          parts.schema?.openAPIV3Schema,
          ['version.schema.openAPIV3Schema is not', '`version.schema.openAPIV3Schema` is not'] as const,
        ]
      : [parts.schema, ['validations.schema is', 'validations.schema is'] as const]
  return [
    ...(yield* validateSchema(parts.schema, path.child(schemaAt), { status, structural, objectMeta, expressions, release })),
    ...validateSubresources(parts.subresources, path.child('subresources')),
    ...validateColumns(parts.columns, path.child('additionalPrinterColumns')),
    ...(schema === undefined && (parts.selectableFields ?? []).length > 0
      ? [withoutSchema(selectable, unknown)]
      : yield* validateSelectable(parts, path)),
  ]
}

function withoutSchema(path: Path, [before, later]: readonly [before: string, later: string]): FieldError {
  return restatedError(field.invalid(path, '', `selectableFields may only be set when ${before} included`), {
    since: '1.34',
    errors: [field.invalid(path, '', `may only be set when ${later} included`)],
  })
}

function* validateSelectable({ schema, selectableFields = [] }: VersionParts, path: Path): Work<FieldError[]> {
  const problem = selectableFields.length === 0 ? undefined : yield* structuralProblem(schema?.openAPIV3Schema ?? {})
  return [
    ...(problem === undefined ? [] : [field.invalid(path.child('schema.openAPIV3Schema'), '', problem)]),
    ...validateSelectableFields(selectableFields, schema?.openAPIV3Schema, path.child('selectableFields')),
  ]
}

function preservesUnknown(object: Definition, old: Definition | undefined, context: StrategyContext): FieldError[] {
  if (allowsLooseSchemas(context)) return []
  if (object.spec.preserveUnknownFields !== true || old?.spec.preserveUnknownFields === true) return []
  const detail = 'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
  return [field.invalid(spec.child('preserveUnknownFields'), true, detail)]
}

function remainingRules(object: Definition, old: Definition | undefined, context: StrategyContext): FieldError[] {
  return [
    ...validateStatus(object),
    ...validateStoredVersions(object),
    ...validateApproval(object, old),
    ...preservesUnknown(object, old, context),
  ]
}

export function* validateNew(object: Definition, context: StrategyContext): Work<FieldError[]> {
  const errors = [...(yield* validateMetadata(object)), ...(yield* validateSpec(object, undefined, context))]
  return [...errors, ...remainingRules(object, undefined, context)]
}

export function* validateChanged(object: Definition, old: Definition, context: StrategyContext): Work<FieldError[]> {
  const errors = [
    ...(yield* validateObjectMetaUpdate(object.metadata, old.metadata)),
    ...(yield* validateSpec(object, old, context)),
  ]
  if (isTrue(old, 'Established')) {
    errors.push(...validateImmutableField(object.spec.scope, old.spec.scope, spec.child('scope')))
    errors.push(...validateImmutableField(object.spec.names.kind, old.spec.names.kind, spec.child('names').child('kind')))
  }
  errors.push(...validateImmutableField(object.spec.group, old.spec.group, spec.child('group')))
  errors.push(...validateImmutableField(object.spec.names.plural, old.spec.names.plural, spec.child('names').child('plural')))
  return [...errors, ...remainingRules(object, old, context)]
}

function isTrue(object: Definition, type: string): boolean {
  return (object.status?.conditions ?? []).some((condition) => condition.type === type && condition.status === 'True')
}

export function* validateStatusChange(object: Definition, old: Definition): Work<FieldError[]> {
  return [...(yield* validateObjectMetaUpdate(object.metadata, old.metadata)), ...validateStatus(object)]
}
