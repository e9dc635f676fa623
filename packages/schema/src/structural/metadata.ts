/** Metadata of custom resources, and of resources embedded in them. */

import type { Work } from '@krmkit/base/work'
import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { decode as decodeAtOnce } from '../decode/decode.direct.ts'
import { decode } from '../decode/decode.ts'
import type { Decoded, StructType } from '../interfaces.ts'
import { DecodeError } from '../schema-error.ts'

const unknownField = /^unknown field "(.*)"$/s

/**
 * Coerces metadata to its stored form: known fields of the right types.
 *
 * @returns undefined for a value that is not an object, when lenient.
 */
export function* coerceMetadata(value: JsonValue, type: StructType, options: MetadataOptions): Work<JsonObject | undefined> {
  try {
    return knownMetadata(yield* decode<JsonObject>(type, value, { collect: options.unknown !== undefined }), options)
  } catch (error) {
    return malformedMetadata(error, value, type, options)
  }
}

export interface MetadataOptions {
  readonly prefix: string
  readonly unknown?: string[] | undefined
  readonly lenient: boolean
}

export function knownMetadata({ object, problems }: Decoded<JsonObject>, { prefix, unknown }: MetadataOptions): JsonObject {
  for (const problem of problems) {
    const name = unknownField.exec(problem)?.[1]
    if (name !== undefined) unknown?.push(prefix + unquoted(name))
  }
  return withoutNullTime(object)
}

const escapes: Readonly<Record<string, string>> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

/** Removes Go's quoting of a name: problems of custom resources show names unescaped. */
function unquoted(name: string): string {
  return name.replace(/\\(?:x(..)|u(.{4})|U(.{8})|(.))/g, (_, x, u, long, char: string) => {
    const code = x ?? u ?? long
    return code === undefined ? (escapes[char] ?? char) : String.fromCodePoint(Number.parseInt(code, 16))
  })
}

export function malformedMetadata(
  error: unknown,
  value: JsonValue,
  type: StructType,
  { prefix, lenient }: MetadataOptions,
): JsonObject | undefined {
  if (!(error instanceof DecodeError)) throw error
  if (lenient) return isJsonObject(value) ? lenientMetadata(value, type) : undefined
  const inner = error.path ?? ''
  throw new DecodeError({ code: error.code, message: error.message, path: inner === '' ? prefix.slice(0, -1) : prefix + inner })
}

/** Unlike built-in kinds, custom resources omit an unset creationTimestamp. */
function withoutNullTime(metadata: JsonObject): JsonObject {
  if (metadata.creationTimestamp === null) delete metadata.creationTimestamp
  return metadata
}

/** Drops malformed fields one by one. */
function lenientMetadata(value: JsonObject, type: StructType): JsonObject {
  const kept: JsonObject = {}
  for (const [name, member] of Object.entries(value)) {
    try {
      decodeAtOnce(type, { [name]: member }, { collect: false })
      setMember(kept, name, member)
    } catch {
      // Drops a malformed field.
    }
  }
  return withoutNullTime(decodeAtOnce<JsonObject>(type, kept, { collect: false }).object)
}
