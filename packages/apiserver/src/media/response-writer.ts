import { concatBytes } from '@krmkit/base/bytes'
import { isLargeValue, runAtOnce, startWork, type Turns, type Work, whenDone } from '@krmkit/base/work'
import { ApiError } from '@krmkit/meta'
import type { ApiBody, ApiResponse } from '@krmkit/protocol'
import { encodeJson, encodeProtobuf, type StructType, stringifyJson, type TypeSource } from '@krmkit/schema'
import type { CborCodec } from '@krmkit/schema/cbor'
import { JsonIndenter } from '@krmkit/schema/json'
import * as paced from '@krmkit/schema/paced'
import { yamlChunks } from '@krmkit/schema/yaml'
import { BodyParts } from './body-parts.ts'
import { type Encoding, mediaType, type Negotiator, type Representation } from './negotiation.ts'

/** Encodes objects and errors in the negotiated form. */
export interface ResponseWriter {
  readonly negotiator: Negotiator
  readonly types: TypeSource
  readonly vendor: string
  /** Absent when the feature gate of CBOR is off. */
  readonly cbor?: CborCodec | undefined
}

/** Responses must not be cached. */
const uncached = 'no-cache, private'

function headersFor(contentType: string): ApiResponse['headers'] {
  return { 'cache-control': uncached, 'content-type': contentType }
}

export function bytesBody(bytes: Uint8Array): ApiBody {
  return { kind: 'bytes', bytes }
}

/** A response with already encoded JSON. */
export function jsonResponse(status: number, body: ApiBody): ApiResponse {
  return { status, headers: headersFor('application/json'), body }
}

export function textResponse(status: number, text: string): ApiResponse {
  return {
    status,
    headers: {
      'cache-control': uncached,
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
    },
    body: bytesBody(new TextEncoder().encode(text)),
  }
}

/**
 * The 429 of an overloaded server, as a Status in JSON.
 *
 * Differs: plain text on kube-apiserver.
 */
export function tooManyRequests(retryAfterSeconds: number): ApiResponse {
  const { status } = ApiError.tooManyRequests('Too many requests, please try again later.', retryAfterSeconds)
  const { headers, ...rest } = jsonResponse(429, bytesBody(new TextEncoder().encode(`${JSON.stringify(status)}\n`)))
  return { ...rest, headers: { ...headers, 'retry-after': String(retryAfterSeconds) } }
}

/** Bytes of an object in one encoding. `type` is needed for protobuf only. */
export function encodeObject(object: object, { encoding, pretty }: Representation, type: () => StructType): Uint8Array {
  const body = runAtOnce(encodedBody(object, { encoding, pretty }, type))
  if (body.kind === 'bytes') return body.bytes
  if (body.kind !== 'list') return new Uint8Array()
  return concatBytes(body.parts.map((part) => (part instanceof Uint8Array ? part : part.bytes())))
}

/**
 * Encodes step by step when the output is indented or large. Protobuf takes one step, because objects of storable size encode fast enough.
 */
function* encodedBody(
  object: object,
  { encoding, pretty }: Representation,
  type: () => StructType,
  cbor?: CborCodec,
): Work<ApiBody> {
  if (encoding === 'cbor' && cbor !== undefined) return bytesBody(yield* cbor.paced.encode(object, type()))
  if (encoding === 'protobuf') return bytesBody(encodeProtobuf(type(), object))
  if (encoding === 'json' && !pretty) {
    if (!isLargeValue(object)) return bytesBody(encodeJson(object, { newline: true }))
    return bytesBody(yield* paced.encodeJson(object, { newline: true }))
  }
  const parts = new BodyParts()
  const pieces = encoding === 'yaml' ? yamlChunks(object) : new JsonIndenter().chunks(yield* jsonText(object))
  for (const piece of pieces) {
    parts.text(piece)
    yield true
  }
  return parts.end()
}

/** The JSON of an object; large objects are encoded step by step. */
export function* jsonText(object: object): Work<string> {
  return isLargeValue(object) ? yield* paced.stringifyJson(object) : stringifyJson(object)
}

/** A response with an object that is encoded in one step. */
export function plainResponse(
  responses: ResponseWriter,
  status: number,
  object: object,
  { encoding, pretty }: Representation,
  type: () => StructType,
): ApiResponse {
  return encodedResponse(responses, status, runAtOnce(encodedBody(object, { encoding, pretty }, type, responses.cbor)), encoding)
}

/** Like `plainResponse`, but encodes large objects in slices. */
export function slicedResponse(
  { responses, turns }: { readonly responses: ResponseWriter; readonly turns: Turns },
  status: number,
  object: object,
  { encoding, pretty }: Representation,
  type: () => StructType,
): ApiResponse | Promise<ApiResponse> {
  const body = startWork(encodedBody(object, { encoding, pretty }, type, responses.cbor), turns)
  return whenDone(body, (made) => encodedResponse(responses, status, made, encoding))
}

/** A response with an already encoded body. */
export function encodedResponse({ vendor }: ResponseWriter, status: number, body: ApiBody, encoding: Encoding): ApiResponse {
  return { status, headers: headersFor(mediaType(encoding, vendor)), body }
}
