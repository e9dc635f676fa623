import type { Work } from '@krmkit/base/work'
import { type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { type DecodeOptions, decodeUntyped } from '../decode/decode.ts'
import { normalize as normalizeBuiltIn } from '../decode/normalize.direct.ts'
import type { CustomCodec, Decoded, StructType } from '../interfaces.ts'
import { copyJson } from '../json/copy.ts'
import type { DecodedSize } from '../json/decoded-size.ts'
import { own } from '../json/json-object.ts'
import { jsonWeight } from '../json/json-weight.ts'
import { maxProblems, truncatePath } from '../json/problems.ts'
import { applySchemaDefaults, hasPrunedNulls, lacksDefaults, pruneNulls } from './defaults.ts'
import { coerceEmbedded } from './embedded.ts'
import { coerceMetadata } from './metadata.ts'
import { pruneObject } from './prune.ts'
import { isSettled } from './settled.ts'
import { sortedValue } from './sorted.ts'

/** The operations of a {@link CustomCodec}. */

export type CustomSchema = Pick<CustomCodec, 'schema' | 'objectMeta' | 'preserveUnknownFields'>

/** @throws DecodeError */
export function* decode(
  custom: CustomSchema,
  value: unknown,
  options: DecodeOptions = {},
): Work<Decoded<Record<string, unknown>>> {
  const { object: whole, problems, keys } = yield* decodeUntyped<JsonObject>(value, { ...options, size: undefined })
  const unknown: string[] | undefined = options.collect === false ? undefined : []
  const object = yield* coerce(custom, whole, { unknown, lenient: false, keepNulls: options.keepNulls, keys })
  if (options.size !== undefined) yield* countObject(object, options.size, keys)
  yield true
  const sorted = (yield* sortedValue(object, { keys })) as Record<string, unknown>
  return { object: sorted, problems: addUnknownFields(problems, unknown) }
}

/** @throws DecodeError `TooLarge` */
export function* applyDefaults({ schema }: CustomSchema, object: JsonObject, size?: DecodedSize): Work<JsonObject> {
  if (!(yield* lacksDefaults(object, schema))) return object
  const copy = yield* copyJson(object)
  yield* applySchemaDefaults(copy, schema, size)
  yield true
  return (yield* sortedValue(copy)) as JsonObject
}

/**
 * A strategy may have removed members that have a default, such as the status of a new object, so defaults are applied
 * again.
 */
export function* normalize(custom: CustomSchema, object: JsonObject): Work<JsonObject> {
  const metadata = yield* normalizeMetadata(object, custom.objectMeta)
  yield true
  const complete = yield* applyDefaults(custom, metadata === object.metadata ? object : { ...object, metadata })
  yield true
  const pruned = yield* withoutNulls(custom, complete)
  yield true
  return (yield* sortedValue(pruned, { constant: true })) as JsonObject
}

/** Removes null members without a type: validation accepts them, but storage does not keep them. */
function* withoutNulls({ preserveUnknownFields, schema }: CustomSchema, object: JsonObject): Work<JsonObject> {
  if (preserveUnknownFields || !schema.containsUntyped || !(yield* hasPrunedNulls(object, schema))) return object
  const copy = yield* copyJson(object)
  yield* pruneNulls(copy, schema)
  return copy
}

export function* readStored(custom: CustomSchema, object: JsonObject): Work<JsonObject> {
  const { schema, objectMeta, preserveUnknownFields } = custom
  if (!preserveUnknownFields && (yield* isSettled(object, schema, objectMeta))) return object
  const { object: copy, keys } = yield* decodeUntyped<JsonObject>(object, { collect: false })
  const coerced = yield* coerce(custom, copy, { unknown: undefined, lenient: true, keys })
  yield true
  // Objects written by old servers may lack a generation.
  const { metadata } = coerced as { metadata: JsonObject }
  if (metadata.generation === undefined || metadata.generation === 0) metadata.generation = 1
  yield* applySchemaDefaults(coerced, schema)
  yield true
  return (yield* sortedValue(coerced, { constant: true })) as JsonObject
}

export function* dropUnknownFields({ schema, preserveUnknownFields }: CustomSchema, value: JsonObject): Work<JsonObject> {
  if (preserveUnknownFields) return value
  const { object, keys } = yield* decodeUntyped<JsonObject>(value, { collect: false })
  yield* pruneObject(object, schema, { keys })
  // The members are already sorted; this stores the keys of large objects.
  return keys === undefined ? object : ((yield* sortedValue(object, { keys, constant: true })) as JsonObject)
}

/** Keys of large objects in a copy. Some members may have been removed since. */
export type CopiedKeys = Map<object, readonly string[]> | undefined

export interface Coercion {
  /** Receives the unknown fields. */
  readonly unknown: string[] | undefined
  readonly lenient: boolean
  readonly keepNulls?: boolean | undefined
  readonly keys: CopiedKeys
}

/** Prunes an object in place, and coerces its metadata. */
function* coerce(
  { schema, objectMeta, preserveUnknownFields }: CustomSchema,
  object: JsonObject,
  { unknown, lenient, keepNulls = false, keys }: Coercion,
): Work<JsonObject> {
  const given = own(object, 'metadata')
  const metadata = given === undefined ? {} : yield* coerceMetadata(given, objectMeta, { prefix: 'metadata.', unknown, lenient })
  if (!preserveUnknownFields) {
    const pruned: string[] = []
    yield* pruneObject(object, schema, unknown === undefined ? { keys } : { unknown: pruned, keys })
    unknown?.push(...pruned)
    yield true
    if (!keepNulls) yield* pruneNulls(object, schema, keys)
    yield true
  }
  // Coercion adds metadata members to the object and to embedded resources.
  if (schema.containsEmbedded) keys?.clear()
  else keys?.delete(object)
  if (schema.containsEmbedded) coerceEmbedded(object, schema, { metadata: objectMeta, unknown, lenient })
  setMember(object, 'metadata', metadata ?? {})
  return object
}

export function addUnknownFields(problems: readonly string[], unknown: readonly string[] | undefined): readonly string[] {
  if (unknown === undefined || unknown.length === 0) return problems
  return [...problems, ...unknown.slice(0, maxProblems).map((path) => `unknown field "${truncatePath(path)}"`)]
}

/**
 * Counts the size of an object without its unknown fields, which are pruned.
 *
 * @throws DecodeError `TooLarge`
 */
function* countObject(object: JsonObject, size: DecodedSize, keys: CopiedKeys): Work {
  for (const key of Object.keys(object)) {
    const value = object[key] as JsonValue
    const before = size.useSeparateCount(key === 'status')
    if (key === 'metadata') yield* countMetadata(value as JsonObject, size)
    else size.add(key.length + 4 + (yield* jsonWeight(value, keys)))
    size.useSeparateCount(before)
  }
}

function* countMetadata({ managedFields, ...metadata }: JsonObject, size: DecodedSize): Work {
  size.add(yield* jsonWeight(metadata))
  const before = size.useSeparateCount(true)
  size.add(yield* jsonWeight(managedFields))
  size.useSeparateCount(before)
}

/** Metadata in its printed form, sorted by name; the same object when it is already in this form. */
function* normalizeMetadata(object: JsonObject, type: StructType): Work<JsonValue> {
  const given = (object.metadata ?? {}) as JsonObject
  const { creationTimestamp, ...rest } = normalizeBuiltIn(type, given)
  const shown = creationTimestamp === null || creationTimestamp === undefined ? rest : { ...rest, creationTimestamp }
  yield true
  return sameMembers(given, (yield* sortedValue(shown)) as JsonObject)
}

export function sameMembers(given: JsonObject, sorted: JsonObject): JsonObject {
  const keys = Object.keys(given)
  const same = Object.keys(sorted).every((key, index) => key === keys[index] && sorted[key] === given[key])
  return same && keys.length === Object.keys(sorted).length ? given : sorted
}
