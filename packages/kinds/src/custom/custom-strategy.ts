import { memberNames, type Work } from '@krmkit/base/work'
import {
  type ApiObject,
  type DeepReadonly,
  type Features,
  type FieldError,
  field,
  formatApiVersion,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  nameRules,
  Path,
  parseApiVersion,
} from '@krmkit/meta'
import { validateObjectMeta, validateObjectMetaUpdate } from '@krmkit/meta/paced'
import { addErrors, relocatedError } from '@krmkit/meta/validation'
import { type CustomCodec, cel, loadCel } from '@krmkit/schema'
import type { TypeMeta } from '@krmkit/schema/decode'
import { NumberLiteral } from '@krmkit/schema/json'
import { validateListTypes } from '@krmkit/schema/paced'
import type { RuleNode } from '@krmkit/schema/rules'
import {
  createSchemaValidator,
  hasTransitionRules,
  hasValidationRules,
  type SchemaValidator,
  validateEmbedded,
  withWholeFloats,
} from '@krmkit/schema/structural'
import type { Strategy, StrategyContext } from '../interfaces.ts'
import { ruleFieldPath } from '../strategies/apiextensions/custom-resource-definition/rule-field-path.ts'
import { jsonEqual } from '../strategies/shared/equality.ts'
import { forEachMember } from '../strategies/shared/for-each.ts'
import { namesOf } from '../strategies/shared/map-members.ts'
import { defineStrategy } from '../strategies/shared/strategy.ts'
import type { CustomResourceDefinitionVersion } from '../types/apiextensions-v1.generated.ts'
import { customPrinter, customScalePrinter } from './custom-printer.ts'
import { finalizerWarnings } from './finalizer-warnings.ts'
import { memberPath, validateSpecReplicas, validateStatusReplicas } from './scale-rules.ts'

/** The strategy of one version of a custom resource. */

type Frozen = DeepReadonly<ApiObject>

export interface CustomStrategyOptions {
  readonly version: DeepReadonly<CustomResourceDefinitionVersion>
  /** All versions of the kind. */
  readonly versions: readonly DeepReadonly<CustomResourceDefinitionVersion>[]
  readonly apiVersion: string
  readonly namespaced: boolean
  readonly schema: JsonObject | undefined
  readonly codec: () => CustomCodec
  /** Converts a stored object to this version. */
  readonly toServed: (object: Frozen) => Frozen
}

export function customStrategy(options: CustomStrategyOptions): Strategy {
  const { version, apiVersion, namespaced, toServed } = options
  const { status, scale } = version.subresources ?? {}
  const withRules = options.schema !== undefined && hasValidationRules(options.schema)
  const instances = createInstanceValidator(options, withRules)
  const served = (object: Frozen) => inVersion(object, apiVersion)
  const selectable = (version.selectableFields ?? []).map(({ jsonPath }) => memberPath(jsonPath))
  return defineStrategy<ApiObject>({
    allowUnconditionalUpdate: false,
    prepareForCreate(object) {
      if (status !== undefined) delete (object as Record<string, unknown>).status
      object.metadata.generation = 1
    },
    *prepareForUpdate(object, old, { sent }) {
      const before = toServed(old)
      if (status !== undefined) restoreMember(object, before, 'status')
      const floats = withoutMetadata(sent?.(), status !== undefined)
      const isSame = (yield* isSameContent(object, before)) && !(yield* setsFloat(object, floats))
      if (!isSame) object.metadata.generation = (old.metadata.generation ?? 0) + 1
    },
    ...(withRules ? { ready: loadCel } : {}),
    ...(options.schema !== undefined && withRules && hasTransitionRules(options.schema) ? { comparesWithOld: true } : {}),
    *validate(object, { warn, sent, statedType, features: { release } }) {
      const wrongType = typeErrors(statedType, { apiVersion, kind: object.kind })
      const metadata = wrongType ?? (yield* validateObjectMeta(object.metadata, { namespaced, name: nameRules.dns1123Subdomain }))
      return yield* instances.validate(served(object), {
        metadataErrors: metadata,
        isTyped: wrongType === undefined,
        warn,
        sent,
        release,
      })
    },
    *validateUpdate(object, old, { warn, sent, statedType, features: { release } }) {
      const wrongType = typeErrors(statedType, { apiVersion, kind: object.kind })
      return yield* instances.validate(served(object), {
        metadataErrors: wrongType ?? (yield* validateObjectMetaUpdate(object.metadata, old.metadata)),
        isTyped: wrongType === undefined,
        old: toServed(old) as unknown as JsonObject,
        warn,
        sent,
        release,
      })
    },
    warnings: finalizerWarnings,
    printer: customPrinter(version.additionalPrinterColumns),
    selectableFields: Object.fromEntries(
      selectable.map((path) => [path.join('.'), (object: Frozen) => selectableText(object, path)]),
    ),
    ...(status === undefined
      ? {}
      : {
          resetFields: { '': [['status']], status: [['spec']] },
          laterResetFields: { since: '1.36', fields: { status: [['metadata'], ['spec']] } },
        }),
    ...(status === undefined ? {} : { subresources: { status: statusRules(options, instances) } }),
    ...(scale === undefined ? {} : { scale: scaleRules(options, scale) }),
  })
}

function inVersion(object: Frozen, apiVersion: string): JsonObject {
  return (object.apiVersion === apiVersion ? object : { ...object, apiVersion }) as unknown as JsonObject
}

function statusRules(
  { apiVersion, toServed }: CustomStrategyOptions,
  instances: ReturnType<typeof createInstanceValidator>,
): NonNullable<Strategy['subresources']>[string] {
  return {
    prepareForUpdate: (object, old) => restoreAllBut(object, toServed(old), 'status'),
    *validateUpdate(object, old, { warn, sent, features: { release } }) {
      const metadata = yield* validateObjectMetaUpdate(object.metadata, old.metadata)
      return yield* instances.validateStatus(inVersion(object, apiVersion), {
        metadataErrors: metadata,
        old: toServed(old) as unknown as JsonObject,
        warn,
        sent,
        release,
      })
    },
  }
}

function scaleRules(
  options: CustomStrategyOptions,
  paths: NonNullable<NonNullable<CustomStrategyOptions['version']['subresources']>['scale']>,
): NonNullable<Strategy['scale']> {
  const { labelSelectorPath } = paths
  return {
    printer: customScalePrinter,
    specReplicas: memberPath(paths.specReplicasPath),
    specReplicasByVersion: replicasByVersion(options),
    statusReplicas: memberPath(paths.statusReplicasPath),
    selector(object) {
      const value = labelSelectorPath === undefined ? undefined : valueAt(object, memberPath(labelSelectorPath))
      return typeof value === 'string' ? value : ''
    },
  }
}

/** Errors of the type that an object states; `undefined` for that of the resource. */
function typeErrors(stated: TypeMeta | undefined, { apiVersion, kind }: TypeMeta): FieldError[] | undefined {
  if (stated === undefined) return undefined
  const errors: FieldError[] = []
  if (stated.kind !== kind) errors.push(field.invalid(Path.of('kind'), stated.kind, `must be ${kind}`))
  if (stated.apiVersion !== apiVersion)
    errors.push(field.invalid(Path.of('apiVersion'), stated.apiVersion, `must be ${apiVersion}`))
  return errors.length === 0 ? undefined : errors
}

interface ValidateOptions {
  /** Errors of the metadata, or of the type. */
  readonly metadataErrors: readonly FieldError[]
  /** The object states its own type; an object of another one is not validated against the schema. */
  readonly isTyped?: boolean
  /** The stored object; unchanged values are not validated again. */
  readonly old?: JsonObject
  readonly warn: ((text: string) => void) | undefined
  readonly sent: StrategyContext['sent']
  readonly release: Features['release']
}

interface InstanceValidator {
  /** All errors of an object: metadata, schema, then rules. */
  validate(object: JsonObject, options: ValidateOptions): Work<FieldError[]>
  /** Errors after a write of the status; only the status is validated against the schema. */
  validateStatus(object: JsonObject, options: ValidateOptions & { readonly old: JsonObject }): Work<FieldError[]>
}

function createInstanceValidator({ version, schema, codec }: CustomStrategyOptions, withRules: boolean): InstanceValidator {
  const { scale } = version.subresources ?? {}
  // Compiled on first use: many definitions never have an object.
  let validateBySchema: SchemaValidator | undefined
  let validateStatusBySchema: SchemaValidator | undefined
  let rules: RuleNode | undefined
  const validateListsAndRules = function* (
    object: JsonObject,
    errors: FieldError[],
    { old, warn, viewed }: ValidateOptions & { readonly viewed: JsonObject },
  ): Work<FieldError[]> {
    yield true
    const { schema: node } = codec()
    if (node.containsKeyedLists && (old === undefined || (yield* validateListTypes(old, node)).length === 0))
      addErrors(errors, yield* validateListTypes(viewed, node))
    if (schema === undefined || !withRules) return errors
    if (errors.some(({ reason }) => blockingReasons.has(reason))) return [...errors, field.invalid(undefined, null, notChecked)]
    const { engine, storedExpressions: stored } = cel()
    rules ??= engine.createRuleTree(schema, { environment: () => stored, root: true })
    if (rules !== undefined)
      addErrors(errors, yield* engine.paced.validateRules(rules, object, { old, warn, fieldAt: ruleFieldPath }))
    return errors
  }
  return {
    *validate(object, options) {
      const errors: FieldError[] = [...options.metadataErrors]
      const { schema: node } = codec()
      const viewed = (yield* withWholeFloats(object, options.sent?.())) as JsonObject
      if (schema !== undefined && options.isTyped === true) {
        validateBySchema ??= createSchemaValidator(schema, options)
        addErrors(errors, yield* validateBySchema.paced(viewed, { old: options.old }))
      }
      if (scale !== undefined && options.isTyped === true)
        addErrors(errors, [...validateSpecReplicas(viewed, scale), ...validateStatusReplicas(viewed, scale)])
      if (node.containsEmbedded) addErrors(errors, validateEmbedded(object, node, codec().objectMeta))
      return yield* validateListsAndRules(object, errors, { ...options, viewed })
    },
    *validateStatus(object, options) {
      const errors: FieldError[] = [...options.metadataErrors]
      const described = memberSchema(schema, 'status')
      const viewed = (yield* withWholeFloats(object, options.sent?.())) as JsonObject
      if (described !== undefined && Object.hasOwn(object, 'status')) {
        validateStatusBySchema ??= createSchemaValidator(described, options)
        const before = Object.hasOwn(options.old, 'status') ? options.old.status : undefined
        addErrors(errors, (yield* validateStatusBySchema.paced(viewed.status as JsonValue, { old: before })).map(inStatus))
      }
      if (scale !== undefined) addErrors(errors, validateStatusReplicas(viewed, scale))
      return yield* validateListsAndRules(object, errors, { ...options, viewed })
    },
  }
}

/** Prefixes the path of an error of a status; the message keeps the path within the status. */
function inStatus(error: FieldError): FieldError {
  return relocatedError(error, error.field === '<nil>' ? 'status' : `status.${error.field}`)
}

function memberSchema(schema: JsonObject | undefined, name: string): JsonObject | undefined {
  const properties = schema !== undefined && Object.hasOwn(schema, 'properties') ? schema.properties : undefined
  if (!isJsonObject(properties)) return undefined
  const member = Object.hasOwn(properties, name) ? properties[name] : undefined
  return isJsonObject(member) ? member : undefined
}

/** Errors that suppress the evaluation of rules. */
const blockingReasons: ReadonlySet<FieldError['reason']> = new Set([
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

function restoreMember(object: Record<string, unknown>, from: DeepReadonly<object>, name: string): void {
  if (Object.hasOwn(from, name)) object[name] = (from as Record<string, unknown>)[name]
  else delete object[name]
}

/** Restores everything but one member and managedFields. */
function* restoreAllBut(object: ApiObject, old: Frozen, name: string): Work {
  const draft = object as Record<string, unknown>
  yield* forEachMember(draft, (_, key) => {
    if (key !== name && key !== 'metadata' && key !== 'apiVersion' && !Object.hasOwn(old, key)) delete draft[key]
  })
  yield* forEachMember(old as Record<string, unknown>, (from, key) => {
    if (key !== name && key !== 'metadata' && key !== 'apiVersion') draft[key] = from[key]
  })
  const { managedFields } = object.metadata
  object.metadata = { ...(old.metadata as ApiObject['metadata']) }
  if (managedFields === undefined) delete object.metadata.managedFields
  else object.metadata.managedFields = managedFields
}

/** Whether two objects differ only in metadata and apiVersion. */
function* isSameContent(a: Frozen, b: Frozen): Work<boolean> {
  for (const name of yield* namesOf(a)) {
    if (isMetadata(name) || (Object.hasOwn(b, name) && a[name] === b[name])) continue
    if (!Object.hasOwn(b, name) || !(yield* jsonEqual(a[name], b[name]))) return false
  }
  for (const name of yield* namesOf(b)) if (!isMetadata(name) && !Object.hasOwn(a, name)) return false
  return true
}

function withoutMetadata(sent: unknown, withoutStatus: boolean): unknown {
  if (!isJsonObject(sent)) return undefined
  return Object.fromEntries(Object.entries(sent).filter(([name]) => !isMetadata(name) && !(withoutStatus && name === 'status')))
}

/**
 * Whether a float without a fraction takes the place of the equal integer. kube-apiserver compares the two as unequal, although it stores
 * both as the integer; beyond 64 bits it reads floats from the storage too.
 */
function* setsFloat(value: unknown, sent: unknown): Work<boolean> {
  if (sent instanceof NumberLiteral) return value === sent.value && Math.abs(sent.value) < 2 ** 63
  if (typeof sent !== 'object' || sent === null || typeof value !== 'object' || value === null) return false
  const members = value as Readonly<Record<string, unknown>>
  const parts = sent as Readonly<Record<string, unknown>>
  const keys = memberNames(parts)
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    if (i % membersPerStep === membersPerStep - 1) yield true
    if (Object.hasOwn(members, key) && (yield* setsFloat(members[key], parts[key]))) return true
  }
  return false
}

/** Members compared between two pauses. */
const membersPerStep = 256

function isMetadata(name: string): boolean {
  return name === 'metadata' || name === 'apiVersion'
}

/** Whether two values are the same JSON, regardless of member order. */
export function isSameJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, index) => isSameJson(item, b[index]))
  if (Array.isArray(b)) return false
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isSameJson(a[key], b[key]))
}
