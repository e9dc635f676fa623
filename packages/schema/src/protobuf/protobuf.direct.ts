// Derived from protobuf.ts by `npm run direct`: do not edit.

import { decode } from '../decode/decode.direct.ts'
import type { Decoded, StructType } from '../interfaces.ts'
import { parseJson } from '../json/parse-json.direct.ts'
import type { Envelope } from './envelope.ts'
import { messageOf } from './message.ts'
import { containsJson, type ProtobufOptions, withTypeMeta } from './protobuf.ts'
import { readMessage } from './read-message.direct.ts'
import { newReader, toDecodeError } from './wire.ts'

/**
 * Decodes the object of an envelope and adds the envelope's `kind` and `apiVersion`. Skips unknown fields silently. An envelope of
 * JSON is decoded as JSON and reports its problems.
 *
 * @throws DecodeError `Protobuf`, `Value`, `Depth`, `TooLarge`; as `decode` for JSON.
 * @throws SchemaError `NoProtobuf` for types without protobuf.
 * @see {@link encodeProtobuf}
 */
export function decodeProtobuf<T = Record<string, unknown>>(
  type: StructType,
  envelope: Envelope,
  { size }: ProtobufOptions = {},
): Decoded<T> {
  const { raw } = envelope
  if (containsJson(envelope)) {
    const { value, duplicates } = parseJson(raw, { literals: true })
    const { object, problems } = decode(type, value, { duplicates, size })
    return { object: withTypeMeta(type, object, envelope) as T, problems }
  }
  const object = decodeMessage<Record<string, unknown>>(type, raw, { size })
  return { object: withTypeMeta(type, object, envelope) as T, problems: [] }
}

/**
 * Decodes a message without its envelope.
 *
 * @throws as {@link decodeProtobuf}
 * @see {@link encodeMessage}
 */
export function decodeMessage<T = Record<string, unknown>>(
  type: StructType,
  bytes: Uint8Array,
  { size }: ProtobufOptions = {},
): T {
  try {
    return readMessage(messageOf(type), newReader(bytes, size), bytes.length, 0) as T
  } catch (error) {
    throw toDecodeError(error)
  }
}
