import { utf8Bytes } from '@krmkit/base/bytes'
import { isLargeValue } from '@krmkit/base/work'
import type { TransportResponse } from '@krmkit/protocol'
import type { ResourceType } from './interfaces.ts'
import { linesOf } from './json-lines.ts'
import { encodeLargeJson } from './large-json.ts'
import { type BodyDecoder, parseJson } from './response.ts'

/** How the bodies of requests and responses are encoded. */
export interface BodyCodec extends BodyDecoder {
  /** Value of Accept for objects of a type, or for a watch of them. */
  accept(type: ResourceType, form: 'object' | 'watch'): string
  /** Encodes an object to create or to update. */
  encode(type: ResourceType, object: object): Promise<{ readonly contentType: string; readonly body: Uint8Array }>
  /** Decodes the events of a watch as they arrive. @throws ClientError `InvalidResponse` */
  events(response: TransportResponse): AsyncIterable<unknown>
}

export const jsonMediaType = 'application/json'

/** Codec of JSON bodies. */
export const jsonCodec: BodyCodec = {
  accept: () => jsonMediaType,
  async encode(_, object) {
    const encoded = encodeBody(object)
    return { contentType: jsonMediaType, body: encoded instanceof Uint8Array ? encoded : await encoded }
  },
  decode: async (bytes) => parseJson(bytes),
  async *events({ body }) {
    for await (const line of linesOf(body)) yield parseJson(line)
  },
}

/** Encodes a value as JSON. A large value is encoded in time slices and must not change meanwhile. */
export function encodeBody(value: unknown): Uint8Array | Promise<Uint8Array> {
  return isLargeValue(value) ? encodeLargeJson(value) : encodeJson(value)
}

export function encodeJson(value: unknown): Uint8Array {
  return utf8Bytes(JSON.stringify(value))
}
