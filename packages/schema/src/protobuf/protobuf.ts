import type { Work } from '@krmkit/base/work'
import { setMember } from '@krmkit/meta'
import { decode } from '../decode/decode.ts'
import type { Decoded, StructType } from '../interfaces.ts'
import type { DecodedSize } from '../json/decoded-size.ts'
import { parseJson } from '../json/parse-json.ts'
import { DecodeError } from '../schema-error.ts'
import { closeEnvelope, type Envelope, openEnvelope } from './envelope.ts'
import { messageOf, writeMessage } from './message.ts'
import { readMessage } from './read-message.ts'
import { newReader, newWriter, toDecodeError } from './wire.ts'

/** Encodes and decodes objects as protobuf. */

/**
 * Encodes a protobuf body with its envelope, which carries `kind` and `apiVersion` of the object.
 *
 * @param object canonical.
 * @throws SchemaError `NoProtobuf` for types without protobuf.
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { decode, decodeProtobuf, encodeProtobuf, readEnvelope } from '@krmkit/schema'
 * const configMap = builtInTypes().struct('core/v1.ConfigMap')
 * const { object } = decode(configMap, { apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } })
 * const body = encodeProtobuf(configMap, object)
 * decodeProtobuf(configMap, readEnvelope(body)).object.data // { a: '1' }
 */
export function encodeProtobuf(type: StructType, object: object): Uint8Array {
  const { apiVersion, kind } = object as { apiVersion?: unknown; kind?: unknown }
  const writer = type.root ? openEnvelope(String(apiVersion ?? ''), String(kind ?? '')) : openEnvelope()
  writeMessage(type, object as Record<string, unknown>, writer.fork())
  return closeEnvelope(writer.ldelim())
}

/**
 * Encodes the message without the envelope, as embedded in other messages.
 *
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { decode } from '@krmkit/schema'
 * import { decodeMessage, encodeMessage } from '@krmkit/schema/protobuf'
 * const configMap = builtInTypes().struct('core/v1.ConfigMap')
 * const bytes = encodeMessage(configMap, decode(configMap, { data: { a: '1' } }).object)
 * decodeMessage(configMap, bytes).data // { a: '1' }
 * @see {@link encodeProtobuf}
 */
export function encodeMessage(type: StructType, object: object): Uint8Array {
  const writer = newWriter()
  writeMessage(type, object as Record<string, unknown>, writer)
  return writer.finish()
}

export interface ProtobufOptions {
  /** Counts the size of the decoded object; decoding fails above its limit. Default: no limit. */
  readonly size?: DecodedSize | undefined
}

/**
 * Decodes the object of an envelope and adds the envelope's `kind` and `apiVersion`. Skips unknown fields silently. An envelope of
 * JSON is decoded as JSON and reports its problems.
 *
 * @throws DecodeError `Protobuf`, `Value`, `Depth`, `TooLarge`; as `decode` for JSON.
 * @throws SchemaError `NoProtobuf` for types without protobuf.
 * @see {@link encodeProtobuf}
 */
export function* decodeProtobuf<T = Record<string, unknown>>(
  type: StructType,
  envelope: Envelope,
  { size }: ProtobufOptions = {},
): Work<Decoded<T>> {
  const { raw } = envelope
  if (containsJson(envelope)) {
    const { value, duplicates } = yield* parseJson(raw, { literals: true })
    const { object, problems } = yield* decode(type, value, { duplicates, size })
    return { object: withTypeMeta(type, object, envelope) as T, problems }
  }
  const object = yield* decodeMessage<Record<string, unknown>>(type, raw, { size })
  return { object: withTypeMeta(type, object, envelope) as T, problems: [] }
}

/** Whether the object in the envelope is JSON. @throws DecodeError `Protobuf` for an unknown encoding */
export function containsJson({ contentEncoding, contentType }: Envelope): boolean {
  if (contentEncoding !== '')
    throw new DecodeError({ code: 'Protobuf', message: `unsupported content encoding ${JSON.stringify(contentEncoding)}` })
  return (contentType.split(';')[0]?.trim() ?? '') === 'application/json'
}

/**
 * Decodes a message without its envelope.
 *
 * @throws as {@link decodeProtobuf}
 * @see {@link encodeMessage}
 */
export function* decodeMessage<T = Record<string, unknown>>(
  type: StructType,
  bytes: Uint8Array,
  { size }: ProtobufOptions = {},
): Work<T> {
  try {
    return (yield* readMessage(messageOf(type), newReader(bytes, size), bytes.length, 0)) as T
  } catch (error) {
    throw toDecodeError(error)
  }
}

/** Adds kind and apiVersion, unless they are empty. */
export function withTypeMeta(
  type: StructType,
  object: Record<string, unknown>,
  meta: { readonly apiVersion: string; readonly kind: string },
): Record<string, unknown> {
  if (!type.root) return object
  const kind = object.kind ?? (meta.kind === '' ? undefined : meta.kind)
  const apiVersion = object.apiVersion ?? (meta.apiVersion === '' ? undefined : meta.apiVersion)
  const full: Record<string, unknown> = {}
  if (kind !== undefined) full.kind = kind
  if (apiVersion !== undefined) full.apiVersion = apiVersion
  for (const key in object) setMember(full, key, object[key])
  return full
}
