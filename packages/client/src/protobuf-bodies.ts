import { concatBytes } from '@krmkit/base/bytes'
import { DecodeError, decode, type StructType } from '@krmkit/schema'
import {
  decodeProtobuf,
  decodeWatchEvent,
  type Envelope,
  encodeProtobuf,
  type ProtobufWatchEvent,
  readEnvelope,
} from '@krmkit/schema/protobuf'
import { ClientError } from './client-error.ts'
import { maxEventBytes } from './json-lines.ts'

/** Encodes and decodes protobuf bodies. Loaded on demand, because most clients use JSON. */

type TypeOf = (envelope: Pick<Envelope, 'apiVersion' | 'kind'>) => StructType

/**
 * Encodes an object. Returns undefined when the object has members that its type does not describe, because the server must
 * see them to reject them.
 */
export function encodeBody(type: StructType, object: object): Uint8Array | undefined {
  try {
    const decoded = decode<object>(type, object)
    return decoded.problems.length > 0 ? undefined : encodeProtobuf(type, decoded.object)
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

/** Decodes a body with its envelope. @throws ClientError `InvalidResponse` for another prefix or a malformed message */
export function decodeBody(bytes: Uint8Array, typeOf: TypeOf): object {
  return asResponse(() => {
    const envelope = readEnvelope(bytes)
    return decodeProtobuf<object>(typeOf(envelope), envelope).object
  })
}

/** Reads the events of a watch. An incomplete last event is dropped, because the connection was interrupted. */
export async function* eventsIn(
  body: AsyncIterable<Uint8Array>,
  typeOf: TypeOf,
): AsyncGenerator<{ readonly type: string; readonly object: object }, void, undefined> {
  for await (const frame of framesOf(body)) {
    const { type, object }: ProtobufWatchEvent = asResponse(() => decodeWatchEvent(frame))
    yield { type, object: decodeBody(object, typeOf) }
  }
}

/** Splits a byte stream into messages, each prefixed by its length in four bytes. */
async function* framesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let parts: Uint8Array[] = []
  let bytes = 0
  let needed = 4
  for await (const chunk of body) {
    parts.push(chunk)
    bytes += chunk.length
    if (bytes < needed) continue
    let pending: Uint8Array = parts.length === 1 ? chunk : concatBytes(parts)
    for (;;) {
      needed = 4
      if (pending.length < 4) break
      const length = new DataView(pending.buffer, pending.byteOffset).getUint32(0)
      if (length > maxEventBytes) throw new ClientError({ code: 'InvalidResponse', message: 'a watch event exceeds 64 MiB' })
      needed = 4 + length
      if (pending.length < needed) break
      yield pending.subarray(4, needed)
      pending = pending.subarray(needed)
    }
    parts = pending.length === 0 ? [] : [pending]
    bytes = pending.length
  }
}

function asResponse<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (!(cause instanceof DecodeError)) throw cause
    throw new ClientError({ code: 'InvalidResponse', message: `the response is not valid protobuf: ${cause.message}`, cause })
  }
}
