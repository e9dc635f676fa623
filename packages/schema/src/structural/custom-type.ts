import type { GroupVersionKind, JsonObject, JsonValue } from '@krmkit/meta'
import { setMember } from '@krmkit/meta'
import { runAtOnce, type Work } from '@krmkit/meta/work'
import { type DecodeOptions, decodeUntyped, decodeUntypedSteps } from '../decode/decode.ts'
import { type DecodedSize, jsonWeight, jsonWeightSteps } from '../decode/decoded-size.ts'
import { normalize } from '../decode/normalize.ts'
import type { CustomCodec, Decoded, PacedCustomCodec, StructType } from '../interfaces.ts'
import { copyJson } from '../json/copy.ts'
import { own } from '../json/json-object.ts'
import { maxProblems, truncatePath } from '../json/problems.ts'
import { definitionName } from '../openapi/custom.ts'
import { applySchemaDefaultsSteps, hasPrunedNullsSteps, lacksDefaultsSteps, pruneNulls, pruneNullsSteps } from './defaults.ts'
import { coerceEmbedded, coerceMetadata, coerceMetadataSteps } from './embedded.ts'
import { pruneObject, pruneObjectSteps } from './prune.ts'
import { prunedDefaults } from './pruned-defaults.ts'
import { createSchemaNode, type SchemaNode } from './schema-node.ts'
import { isSettled, isSettledSteps } from './settled.ts'
import { sortedValue, sortedValueSteps } from './sorted.ts'

/**
 * Types of custom resources from their schemas. Decoding prunes unknown fields, values keep their form, and members are sorted by
 * name.
 */

export interface CustomTypeOptions {
  readonly kind: GroupVersionKind
  /** `openAPIV3Schema` of the version. Default: any object. */
  readonly schema?: JsonObject | undefined
  /** `spec.preserveUnknownFields`: disables pruning. */
  readonly preserveUnknownFields?: boolean | undefined
  /** The type `meta/v1.ObjectMeta`. */
  readonly objectMeta: StructType
}

const noFields: StructType['field'] = new Map()

/**
 * Creates the type of one version of a custom kind.
 *
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { createCustomType, decode } from '@krmkit/schema'
 * const widget = createCustomType({
 *   kind: { group: 'shop.example.com', version: 'v1', kind: 'Widget' },
 *   schema: { type: 'object', properties: { size: { type: 'integer' } } },
 *   objectMeta: builtInTypes().struct('meta/v1.ObjectMeta'),
 * })
 * decode(widget, { kind: 'Widget', colour: 'red', size: 2 }).problems // [ 'unknown field "colour"' ]
 */
export function createCustomType(options: CustomTypeOptions): StructType {
  const { kind } = options
  const schema = options.schema ?? { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  return {
    name: `${kind.group}/${kind.version}.${kind.kind}`,
    typeName: kind.kind,
    packageName: kind.version,
    group: kind.group,
    version: kind.version,
    openapiName: definitionName(kind),
    root: true,
    fields: [],
    field: noFields,
    preserveUnknown: true,
    raw: schema,
    custom: new CustomResourceCodec(createSchemaNode(schema), options),
  }
}

/** Keys of large objects in a copy. Some of the members may have been removed since. */
type CopiedKeys = Map<object, readonly string[]> | undefined

interface Coercion {
  /** Receives the unknown fields. */
  readonly unknown: string[] | undefined
  readonly lenient: boolean
  readonly keepNulls?: boolean | undefined
}

class CustomResourceCodec implements CustomCodec {
  readonly schema: SchemaNode
  readonly objectMeta: StructType
  readonly preserveUnknownFields: boolean
  readonly paced: PacedCustomCodec = {
    decode: (value, options) => this.#decode(value, options),
    applyDefaults: (object, size) => this.#applyDefaults(object, size),
    normalize: (object) => this.#normalize(object),
    readStored: (object) => this.#readStored(object),
    dropUnknownFields: (value) => this.#dropUnknownFields(value),
  }

  constructor(node: SchemaNode, { objectMeta, preserveUnknownFields = false }: CustomTypeOptions) {
    this.schema = prunedDefaults(node, objectMeta)
    this.objectMeta = objectMeta
    this.preserveUnknownFields = preserveUnknownFields
  }

  decode(value: unknown, options: DecodeOptions = {}): Decoded<Record<string, unknown>> {
    const { object: whole, problems } = decodeUntyped<JsonObject>(value, { ...options, size: undefined })
    const unknown: string[] | undefined = options.collect === false ? undefined : []
    const object = this.#coerce(whole, { unknown, lenient: false, keepNulls: options.keepNulls })
    if (options.size !== undefined) countObject(object, options.size)
    return { object: sortedValue(object) as Record<string, unknown>, problems: addUnknownFields(problems, unknown) }
  }

  *#decode(value: unknown, options: DecodeOptions = {}): Work<Decoded<Record<string, unknown>>> {
    const { object: whole, problems, keys } = yield* decodeUntypedSteps<JsonObject>(value, { ...options, size: undefined })
    const unknown: string[] | undefined = options.collect === false ? undefined : []
    const object = yield* this.#coerceSteps(whole, { unknown, lenient: false, keepNulls: options.keepNulls }, keys)
    if (options.size !== undefined) yield* countObjectSteps(object, options.size, keys)
    yield true
    const sorted = (yield* sortedValueSteps(object, { keys })) as Record<string, unknown>
    return { object: sorted, problems: addUnknownFields(problems, unknown) }
  }

  applyDefaults(object: JsonObject, size?: DecodedSize): JsonObject {
    if (!runAtOnce(lacksDefaultsSteps(object, this.schema))) return object
    const copy = copyJson(object)
    runAtOnce(applySchemaDefaultsSteps(copy, this.schema, size))
    return sortedValue(copy) as JsonObject
  }

  *#applyDefaults(object: JsonObject, size?: DecodedSize): Work<JsonObject> {
    if (!(yield* lacksDefaultsSteps(object, this.schema))) return object
    const { object: copy } = yield* decodeUntypedSteps<JsonObject>(object, { collect: false })
    yield* applySchemaDefaultsSteps(copy, this.schema, size)
    yield true
    return (yield* sortedValueSteps(copy)) as JsonObject
  }

  normalize(object: JsonObject): JsonObject {
    const metadata = normalizeMetadata(object, this.objectMeta)
    const whole = metadata === object.metadata ? object : { ...object, metadata }
    // A strategy may have removed what has a default, such as the status of a new object.
    return sortedValue(runAtOnce(this.#withoutNullsSteps(this.applyDefaults(whole)))) as JsonObject
  }

  *#normalize(object: JsonObject): Work<JsonObject> {
    const metadata = yield* normalizeMetadataSteps(object, this.objectMeta)
    yield true
    const complete = yield* this.#applyDefaults(metadata === object.metadata ? object : { ...object, metadata })
    yield true
    const pruned = yield* this.#withoutNullsSteps(complete)
    yield true
    return (yield* sortedValueSteps(pruned, { constant: true })) as JsonObject
  }

  /** Validation accepts null without a type, which storage does not keep. */
  *#withoutNullsSteps(object: JsonObject): Work<JsonObject> {
    const { preserveUnknownFields, schema } = this
    if (preserveUnknownFields || !schema.containsUntyped || !(yield* hasPrunedNullsSteps(object, schema))) return object
    const { object: copy } = yield* decodeUntypedSteps<JsonObject>(object, { collect: false })
    yield* pruneNullsSteps(copy, schema)
    return copy
  }

  readStored(object: JsonObject): JsonObject {
    if (!this.preserveUnknownFields && isSettled(object, this.schema, this.objectMeta)) return object
    return sortedValue(
      runAtOnce(this.#completed(this.#coerce(copyJson(object), { unknown: undefined, lenient: true }))),
    ) as JsonObject
  }

  *#readStored(object: JsonObject): Work<JsonObject> {
    if (!this.preserveUnknownFields && (yield* isSettledSteps(object, this.schema, this.objectMeta))) return object
    const { object: copy, keys } = yield* decodeUntypedSteps<JsonObject>(object, { collect: false })
    const coerced = yield* this.#coerceSteps(copy, { unknown: undefined, lenient: true }, keys)
    yield true
    const completed = yield* this.#completed(coerced)
    yield true
    return (yield* sortedValueSteps(completed, { constant: true })) as JsonObject
  }

  /** Objects of old servers may lack a generation. */
  *#completed(object: JsonObject): Work<JsonObject> {
    const { metadata } = object as { metadata: JsonObject }
    if (metadata.generation === undefined || metadata.generation === 0) metadata.generation = 1
    yield* applySchemaDefaultsSteps(object, this.schema)
    return object
  }

  dropUnknownFields(value: JsonObject): JsonObject {
    if (this.preserveUnknownFields) return value
    const copy = copyJson(value)
    pruneObject(copy, this.schema)
    return copy
  }

  *#dropUnknownFields(value: JsonObject): Work<JsonObject> {
    if (this.preserveUnknownFields) return value
    const { object, keys } = yield* decodeUntypedSteps<JsonObject>(value, { collect: false })
    yield* pruneObjectSteps(object, this.schema, { keys })
    return (yield* sortedValueSteps(object, { keys, constant: true })) as JsonObject
  }

  #coerce(object: JsonObject, { unknown, lenient, keepNulls = false }: Coercion): JsonObject {
    const given = own(object, 'metadata')
    const metadata = given === undefined ? {} : coerceMetadata(given, this.objectMeta, { prefix: 'metadata.', unknown, lenient })
    if (!this.preserveUnknownFields) {
      const pruned: string[] = []
      pruneObject(object, this.schema, unknown === undefined ? {} : { unknown: pruned })
      unknown?.push(...pruned)
      if (!keepNulls) pruneNulls(object, this.schema)
    }
    return this.#withMetadata(object, metadata, unknown, lenient)
  }

  /** As `#coerce`, with pauses. */
  *#coerceSteps(object: JsonObject, { unknown, lenient, keepNulls = false }: Coercion, keys: CopiedKeys): Work<JsonObject> {
    const given = own(object, 'metadata')
    const options = { prefix: 'metadata.', unknown, lenient }
    const metadata = given === undefined ? {} : yield* coerceMetadataSteps(given, this.objectMeta, options)
    if (!this.preserveUnknownFields) {
      const pruned: string[] = []
      yield* pruneObjectSteps(object, this.schema, unknown === undefined ? { keys } : { unknown: pruned, keys })
      unknown?.push(...pruned)
      yield true
      if (!keepNulls) yield* pruneNullsSteps(object, this.schema, keys)
      yield true
    }
    // Metadata is added to the object, and to the resources in it.
    if (this.schema.containsEmbedded) keys?.clear()
    else keys?.delete(object)
    return this.#withMetadata(object, metadata, unknown, lenient)
  }

  #withMetadata(
    object: JsonObject,
    metadata: JsonObject | undefined,
    unknown: string[] | undefined,
    lenient: boolean,
  ): JsonObject {
    if (this.schema.containsEmbedded) coerceEmbedded(object, this.schema, { metadata: this.objectMeta, unknown, lenient })
    setMember(object, 'metadata', metadata ?? {})
    return object
  }
}

function addUnknownFields(problems: readonly string[], unknown: readonly string[] | undefined): readonly string[] {
  if (unknown === undefined || unknown.length === 0) return problems
  return [...problems, ...unknown.slice(0, maxProblems).map((path) => `unknown field "${truncatePath(path)}"`)]
}

/**
 * Counts an object without its unknown fields, which are pruned.
 *
 * @throws DecodeError `TooLarge`
 */
function countObject(object: JsonObject, size: DecodedSize): void {
  for (const key in object) {
    const value = object[key] as JsonValue
    const before = size.useSeparateCount(key === 'status')
    if (key === 'metadata') countMetadata(value as JsonObject, size)
    else size.add(key.length + 4 + jsonWeight(value))
    size.useSeparateCount(before)
  }
}

/** As `countObject`, with pauses. @throws DecodeError `TooLarge` */
function* countObjectSteps(object: JsonObject, size: DecodedSize, keys: CopiedKeys): Work {
  for (const key of Object.keys(object)) {
    const value = object[key] as JsonValue
    const weight = key === 'metadata' ? undefined : key.length + 4 + (yield* jsonWeightSteps(value, keys))
    const before = size.useSeparateCount(key === 'status')
    if (weight === undefined) countMetadata(value as JsonObject, size)
    else size.add(weight)
    size.useSeparateCount(before)
  }
}

function countMetadata({ managedFields, ...metadata }: JsonObject, size: DecodedSize): void {
  size.add(jsonWeight(metadata))
  const before = size.useSeparateCount(true)
  size.add(jsonWeight(managedFields))
  size.useSeparateCount(before)
}

/** Metadata in its printed form, sorted by name; the same object when it already is. */
function normalizeMetadata(object: JsonObject, type: StructType): JsonValue {
  const { given, shown } = printedMetadata(object, type)
  return sameMembers(given, sortedValue(shown) as JsonObject)
}

/** As `normalizeMetadata`, with pauses. */
function* normalizeMetadataSteps(object: JsonObject, type: StructType): Work<JsonValue> {
  const { given, shown } = printedMetadata(object, type)
  yield true
  return sameMembers(given, (yield* sortedValueSteps(shown)) as JsonObject)
}

function printedMetadata(object: JsonObject, type: StructType): { readonly given: JsonObject; readonly shown: JsonObject } {
  const given = (object.metadata ?? {}) as JsonObject
  const { creationTimestamp, ...rest } = normalize(type, given)
  const shown = creationTimestamp === null || creationTimestamp === undefined ? rest : { ...rest, creationTimestamp }
  return { given, shown }
}

function sameMembers(given: JsonObject, sorted: JsonObject): JsonObject {
  const keys = Object.keys(given)
  const same = Object.keys(sorted).every((key, index) => key === keys[index] && sorted[key] === given[key])
  return same && keys.length === Object.keys(sorted).length ? given : sorted
}
