import {
  type ApiObject,
  addErrors,
  type DeepReadonly,
  type FieldError,
  field,
  formatApiVersion,
  type JsonObject,
  type JsonValue,
  nameRules,
  parseApiVersion,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '@krmkit/meta'
import {
  type CustomCodec,
  cel,
  createSchemaValidator,
  hasTransitionRules,
  hasValidationRules,
  loadCel,
  type SchemaValidator,
  validateEmbedded,
  validateListTypes,
} from '@krmkit/schema'
import type { RuleNode } from '@krmkit/schema/cel'
import type { Strategy, StrategyContext } from '../interfaces.ts'
import { rulePlace } from '../strategies/apiextensions/field-path.ts'
import type { CustomResourceDefinitionVersion } from '../types/apiextensions-v1.generated.ts'
import { customPrinter } from './custom-printer.ts'
import { finalizerWarnings } from './finalizer-warnings.ts'
import { memberPath, specReplicasErrors, statusReplicasErrors } from './scale-rules.ts'

/** What holds for the objects of one version of a custom resource. */

type Frozen = DeepReadonly<ApiObject>

export interface CustomStrategyOptions {
  readonly version: DeepReadonly<CustomResourceDefinitionVersion>
  /** All versions of the kind. */
  readonly versions: readonly DeepReadonly<CustomResourceDefinitionVersion>[]
  readonly apiVersion: string
  readonly namespaced: boolean
  readonly schema: JsonObject | undefined
  readonly codec: () => CustomCodec
  /** A stored object as this version shows it. */
  readonly seen: (object: Frozen) => Frozen
}

export function customStrategy(options: CustomStrategyOptions): Strategy {
  const { version, apiVersion, namespaced, seen } = options
  const { status, scale } = version.subresources ?? {}
  const ruled = options.schema !== undefined && hasValidationRules(options.schema)
  const check = instanceRules(options, ruled)
  const own = (object: Frozen): JsonObject =>
    (object.apiVersion === apiVersion ? object : { ...object, apiVersion }) as unknown as JsonObject
  const selectable = (version.selectableFields ?? []).map(({ jsonPath }) => memberPath(jsonPath))
  return {
    allowUnconditionalUpdate: false,
    prepareForCreate(object) {
      if (status !== undefined) delete (object as Record<string, unknown>).status
      object.metadata.generation = 1
    },
    prepareForUpdate(object, old) {
      const before = seen(old)
      if (status !== undefined) takeMember(object, before, 'status')
      if (!sameContent(object, before)) object.metadata.generation = (old.metadata.generation ?? 0) + 1
    },
    ...(ruled ? { ready: loadCel } : {}),
    ...(options.schema !== undefined && ruled && hasTransitionRules(options.schema) ? { comparesWithOld: true } : {}),
    validate(object, { warn }) {
      const metadata = validateObjectMeta(object.metadata, { namespaced, name: nameRules.dns1123Subdomain })
      return check.whole(own(object), { before: metadata, warn })
    },
    validateUpdate: (object, old, { warn }) => {
      const metadata = validateObjectMetaUpdate(object.metadata, old.metadata)
      return check.whole(own(object), { before: metadata, old: seen(old) as unknown as JsonObject, warn })
    },
    warnings: finalizerWarnings,
    printer: customPrinter(version.additionalPrinterColumns),
    selectableFields: Object.fromEntries(
      selectable.map((path) => [path.join('.'), (object: Frozen) => selectableText(object, path)]),
    ),
    ...(status === undefined ? {} : { resetFields: { '': [['status']], status: [['spec']] } }),
    subresources: {
      ...(status === undefined
        ? {}
        : {
            status: {
              prepareForUpdate(object: ApiObject, old: Frozen) {
                keepAllBut(object, seen(old), 'status')
              },
              validateUpdate: (object: Frozen, old: Frozen, { warn }: StrategyContext): FieldError[] => {
                const metadata = validateObjectMetaUpdate(object.metadata, old.metadata)
                return check.status(own(object), { before: metadata, old: seen(old) as unknown as JsonObject, warn })
              },
            },
          }),
    },
    ...(scale === undefined
      ? {}
      : {
          scale: {
            specReplicas: memberPath(scale.specReplicasPath),
            specReplicasByVersion: replicasByVersion(options),
            statusReplicas: memberPath(scale.statusReplicasPath),
            selector: (object: Frozen) => {
              const value =
                scale.labelSelectorPath === undefined ? undefined : valueAt(object, memberPath(scale.labelSelectorPath))
              return typeof value === 'string' ? value : ''
            },
          },
        }),
  }
}

interface CheckOptions {
  /** What is wrong with the metadata. */
  readonly before: readonly FieldError[]
  /** What is unchanged passes. */
  readonly old?: JsonObject
  readonly warn: ((text: string) => void) | undefined
}

interface InstanceRules {
  /** All that is wrong with an object: its metadata, its content, and what its rules say. */
  whole(object: JsonObject, options: CheckOptions): FieldError[]
  /** What is wrong after its status was written, which is all that the schema is asked about. */
  status(object: JsonObject, options: CheckOptions & { readonly old: JsonObject }): FieldError[]
}

function instanceRules({ version, schema, codec }: CustomStrategyOptions, ruled: boolean): InstanceRules {
  const { scale } = version.subresources ?? {}
  // Compiled for the first object: many definitions never have one.
  let validate: SchemaValidator | undefined
  let validateStatus: SchemaValidator | undefined
  let rules: RuleNode | undefined
  const afterLists = (object: JsonObject, errors: FieldError[], { old, warn }: CheckOptions): FieldError[] => {
    const { schema: node } = codec()
    if (node.containsKeyedLists && (old === undefined || validateListTypes(old, node).length === 0))
      addErrors(errors, validateListTypes(object, node))
    if (schema === undefined || !ruled) return errors
    if (errors.some(({ reason }) => blocking.has(reason))) return [...errors, field.invalid(undefined, null, notChecked)]
    const { engine, storedExpressions: stored } = cel()
    rules ??= engine.createRuleTree(schema, { environment: () => stored, root: true })
    if (rules !== undefined) addErrors(errors, engine.validateRules(rules, object, { old, warn, fieldAt: rulePlace }))
    return errors
  }
  return {
    whole(object, options) {
      const errors: FieldError[] = [...options.before]
      const { schema: node } = codec()
      if (schema !== undefined) {
        validate ??= createSchemaValidator(schema)
        addErrors(errors, validate(object, { old: options.old }))
      }
      if (scale !== undefined) addErrors(errors, [...specReplicasErrors(object, scale), ...statusReplicasErrors(object, scale)])
      if (node.containsEmbedded) addErrors(errors, validateEmbedded(object, node, codec().objectMeta))
      return afterLists(object, errors, options)
    },
    status(object, options) {
      const errors: FieldError[] = [...options.before]
      const described = memberSchema(schema, 'status')
      if (described !== undefined && Object.hasOwn(object, 'status')) {
        validateStatus ??= createSchemaValidator(described)
        const before = Object.hasOwn(options.old, 'status') ? options.old.status : undefined
        addErrors(errors, validateStatus(object.status as JsonValue, { old: before }).map(inStatus))
      }
      if (scale !== undefined) addErrors(errors, statusReplicasErrors(object, scale))
      return afterLists(object, errors, options)
    },
  }
}

/** Of faults of a status: the place in the whole object. Their words name the place in the status. */
function inStatus(error: FieldError): FieldError {
  return { ...error, field: error.field === '<nil>' ? 'status' : `status.${error.field}` }
}

function memberSchema(schema: JsonObject | undefined, name: string): JsonObject | undefined {
  const properties = schema !== undefined && Object.hasOwn(schema, 'properties') ? schema.properties : undefined
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) return undefined
  const member = Object.hasOwn(properties, name) ? properties[name] : undefined
  return typeof member === 'object' && member !== null && !Array.isArray(member) ? member : undefined
}

/** Faults after which rules are not looked at. */
const blocking: ReadonlySet<FieldError['reason']> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])
const notChecked =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'

/** Paths of the replicas by apiVersion. */
function replicasByVersion({ versions, apiVersion }: CustomStrategyOptions): Record<string, readonly string[] | null> {
  const { group } = parseApiVersion(apiVersion)
  return Object.fromEntries(
    versions.map(({ name, subresources }) => {
      const path = subresources?.scale?.specReplicasPath
      return [formatApiVersion({ group, version: name }), path === undefined ? null : memberPath(path)]
    }),
  )
}

function valueAt(object: DeepReadonly<object>, path: readonly string[]): JsonValue | undefined {
  let at: unknown = object
  for (const member of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, member)) return undefined
    at = (at as Record<string, unknown>)[member]
  }
  return at as JsonValue
}

function selectableText(object: Frozen, path: readonly string[]): string {
  const value = valueAt(object, path)
  return value === undefined || value === null || typeof value === 'object' ? '' : String(value)
}

function takeMember(object: Record<string, unknown>, from: DeepReadonly<object>, name: string): void {
  if (Object.hasOwn(from, name)) object[name] = (from as Record<string, unknown>)[name]
  else delete object[name]
}

/** Everything as it was but one member, and who owns what. */
function keepAllBut(object: ApiObject, old: Frozen, name: string): void {
  const changed = object as Record<string, unknown>
  for (const key of Object.keys(changed))
    if (key !== name && key !== 'metadata' && key !== 'apiVersion' && !Object.hasOwn(old, key)) delete changed[key]
  for (const key of Object.keys(old))
    if (key !== name && key !== 'metadata' && key !== 'apiVersion') changed[key] = (old as Record<string, unknown>)[key]
  const { managedFields } = object.metadata
  object.metadata = { ...(old.metadata as ApiObject['metadata']) }
  if (managedFields === undefined) delete object.metadata.managedFields
  else object.metadata.managedFields = managedFields
}

/** Whether two objects differ in their metadata and version only. */
function sameContent(a: Frozen, b: Frozen): boolean {
  const content = ({ metadata: _m, apiVersion: _v, ...rest }: Frozen): JsonValue => rest as unknown as JsonValue
  return sameValue(content(a), content(b))
}

/** Whether two values are the same JSON, whatever the order of members. */
export function sameValue(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, index) => sameValue(item, b[index]))
  if (Array.isArray(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key], b[key]))
}
