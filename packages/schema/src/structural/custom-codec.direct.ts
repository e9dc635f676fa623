// Derived from custom-codec.ts by `npm run direct`: do not edit.

import { type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { decodeUntyped } from '../decode/decode.direct.ts'
import type { DecodeOptions } from '../decode/decode.ts'
import { normalize as normalizeBuiltIn } from '../decode/normalize.direct.ts'
import type { Decoded, StructType } from '../interfaces.ts'
import { copyJson } from '../json/copy.direct.ts'
import type { DecodedSize } from '../json/decoded-size.ts'
import { own } from '../json/json-object.ts'
import { jsonWeight } from '../json/json-weight.direct.ts'
import { addUnknownFields, type Coercion, type CopiedKeys, type CustomSchema, sameMembers } from './custom-codec.ts'
import { applySchemaDefaults, hasPrunedNulls, lacksDefaults, pruneNulls } from './defaults.direct.ts'
import { coerceEmbedded } from './embedded.ts'
import { coerceMetadata } from './metadata.direct.ts'
import { pruneObject } from './prune.direct.ts'
import { isSettled } from './settled.direct.ts'
import { sortedValue } from './sorted.direct.ts'

/** @throws DecodeError */
export function decode(custom: CustomSchema, value: unknown, options: DecodeOptions = {}): Decoded<Record<string, unknown>> {
  const { object: whole, problems, keys } = decodeUntyped<JsonObject>(value, { ...options, size: undefined })
  const unknown: string[] | undefined = options.collect === false ? undefined : []
  const object = coerce(custom, whole, { unknown, lenient: false, keepNulls: options.keepNulls, keys })
  if (options.size !== undefined) countObject(object, options.size, keys)

  const sorted = sortedValue(object, { keys }) as Record<string, unknown>
  return { object: sorted, problems: addUnknownFields(problems, unknown) }
}

/** @throws DecodeError `TooLarge` */
export function applyDefaults({ schema }: CustomSchema, object: JsonObject, size?: DecodedSize): JsonObject {
  if (!lacksDefaults(object, schema)) return object
  const copy = copyJson(object)
  applySchemaDefaults(copy, schema, size)

  return sortedValue(copy) as JsonObject
}

/**
 * A strategy may have removed members that have a default, such as the status of a new object, so defaults are applied
 * again.
 */
export function normalize(custom: CustomSchema, object: JsonObject): JsonObject {
  const metadata = normalizeMetadata(object, custom.objectMeta)

  const complete = applyDefaults(custom, metadata === object.metadata ? object : { ...object, metadata })

  const pruned = withoutNulls(custom, complete)

  return sortedValue(pruned, { constant: true }) as JsonObject
}

/** Removes null members without a type: validation accepts them, but storage does not keep them. */
function withoutNulls({ preserveUnknownFields, schema }: CustomSchema, object: JsonObject): JsonObject {
  if (preserveUnknownFields || !schema.containsUntyped || !hasPrunedNulls(object, schema)) return object
  const copy = copyJson(object)
  pruneNulls(copy, schema)
  return copy
}

export function readStored(custom: CustomSchema, object: JsonObject): JsonObject {
  const { schema, objectMeta, preserveUnknownFields } = custom
  if (!preserveUnknownFields && isSettled(object, schema, objectMeta)) return object
  const { object: copy, keys } = decodeUntyped<JsonObject>(object, { collect: false })
  const coerced = coerce(custom, copy, { unknown: undefined, lenient: true, keys })

  // Objects written by old servers may lack a generation.
  const { metadata } = coerced as { metadata: JsonObject }
  if (metadata.generation === undefined || metadata.generation === 0) metadata.generation = 1
  applySchemaDefaults(coerced, schema)

  return sortedValue(coerced, { constant: true }) as JsonObject
}

export function dropUnknownFields({ schema, preserveUnknownFields }: CustomSchema, value: JsonObject): JsonObject {
  if (preserveUnknownFields) return value
  const { object, keys } = decodeUntyped<JsonObject>(value, { collect: false })
  pruneObject(object, schema, { keys })
  // The members are already sorted; this stores the keys of large objects.
  return keys === undefined ? object : (sortedValue(object, { keys, constant: true }) as JsonObject)
}

/** Prunes an object in place, and coerces its metadata. */
function coerce(
  { schema, objectMeta, preserveUnknownFields }: CustomSchema,
  object: JsonObject,
  { unknown, lenient, keepNulls = false, keys }: Coercion,
): JsonObject {
  const given = own(object, 'metadata')
  const metadata = given === undefined ? {} : coerceMetadata(given, objectMeta, { prefix: 'metadata.', unknown, lenient })
  if (!preserveUnknownFields) {
    const pruned: string[] = []
    pruneObject(object, schema, unknown === undefined ? { keys } : { unknown: pruned, keys })
    unknown?.push(...pruned)

    if (!keepNulls) pruneNulls(object, schema, keys)
  }
  // Coercion adds metadata members to the object and to embedded resources.
  if (schema.containsEmbedded) keys?.clear()
  else keys?.delete(object)
  if (schema.containsEmbedded) coerceEmbedded(object, schema, { metadata: objectMeta, unknown, lenient })
  setMember(object, 'metadata', metadata ?? {})
  return object
}

/**
 * Counts the size of an object without its unknown fields, which are pruned.
 *
 * @throws DecodeError `TooLarge`
 */
function countObject(object: JsonObject, size: DecodedSize, keys: CopiedKeys): void {
  for (const key of Object.keys(object)) {
    const value = object[key] as JsonValue
    const before = size.useSeparateCount(key === 'status')
    if (key === 'metadata') countMetadata(value as JsonObject, size)
    else size.add(key.length + 4 + jsonWeight(value, keys))
    size.useSeparateCount(before)
  }
}

function countMetadata({ managedFields, ...metadata }: JsonObject, size: DecodedSize): void {
  size.add(jsonWeight(metadata))
  const before = size.useSeparateCount(true)
  size.add(jsonWeight(managedFields))
  size.useSeparateCount(before)
}

/** Metadata in its printed form, sorted by name; the same object when it is already in this form. */
function normalizeMetadata(object: JsonObject, type: StructType): JsonValue {
  const given = (object.metadata ?? {}) as JsonObject
  const { creationTimestamp, ...rest } = normalizeBuiltIn(type, given)
  const shown = creationTimestamp === null || creationTimestamp === undefined ? rest : { ...rest, creationTimestamp }

  return sameMembers(given, sortedValue(shown) as JsonObject)
}
