import { ApiError, runAtOnce, runSyncOrInSlices, type SliceScheduler, type Status } from '@krmkit/meta'
import { isLarge } from '@krmkit/registry'
import {
  encodeJson,
  encodeProtobuf,
  JsonIndenter,
  type StructType,
  stringifyJson,
  stringifySteps,
  type TypeSource,
  yamlPieces,
} from '@krmkit/schema'
import { BodyParts } from './body-parts.ts'
import type { ApiBody, ApiResponse } from './interfaces.ts'
import { type Encoding, mediaType, type Negotiator, type Representation } from './negotiation.ts'

/** Turns objects and failures into answers of the negotiated form. */
export interface Responder {
  readonly negotiator: Negotiator
  readonly types: TypeSource
  readonly vendor: string
}

/** Every answer that is not for caches says so. */
const commonHeaders = { 'cache-control': 'no-cache, private' }

export function bytesBody(bytes: Uint8Array): ApiBody {
  return { kind: 'bytes', bytes }
}

/** An answer whose JSON bytes exist already. */
export function jsonResponse(status: number, body: ApiBody): ApiResponse {
  return { status, headers: { ...commonHeaders, 'content-type': 'application/json' }, body }
}

export function textResponse(status: number, text: string): ApiResponse {
  return {
    status,
    headers: { ...commonHeaders, 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body: bytesBody(new TextEncoder().encode(text)),
  }
}

/**
 * The refusal of a request for which there is no room now: a Status in JSON.
 *
 * Differs: the stock server sends the sentence alone, as plain text.
 */
export function tooManyRequests(retryAfterSeconds: number): ApiResponse {
  const { status } = ApiError.tooManyRequests('Too many requests, please try again later.', retryAfterSeconds)
  const { headers, ...rest } = jsonResponse(429, bytesBody(new TextEncoder().encode(`${JSON.stringify(status)}\n`)))
  return { ...rest, headers: { ...headers, 'retry-after': String(retryAfterSeconds) } }
}

/** Bytes of an object in one encoding. `type` is needed for protobuf only. */
export function encodeObject(object: object, encoding: Encoding, pretty: boolean, type: () => StructType): Uint8Array {
  const body = runAtOnce(objectSteps(object, encoding, pretty, type))
  if (body.kind === 'bytes') return body.bytes
  if (body.kind !== 'list') return new Uint8Array()
  return Buffer.concat(body.parts.map((part) => (part instanceof Uint8Array ? part : part.bytes())))
}

/** Printing for people, and large objects in JSON, are cut into pieces; protobuf is quick for any object that can be stored. */
function* objectSteps(object: object, encoding: Encoding, pretty: boolean, type: () => StructType): Generator<true, ApiBody> {
  if (encoding === 'protobuf') return bytesBody(encodeProtobuf(type(), object))
  if (encoding === 'json' && !pretty) {
    if (!isLarge(object)) return bytesBody(encodeJson(object, { newline: true }))
    const steps = stringifySteps(object)
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) return bytesBody(new TextEncoder().encode(`${step.value}\n`))
      yield true
    }
  }
  const parts = new BodyParts()
  const pieces = encoding === 'yaml' ? yamlPieces(object) : new JsonIndenter().pieces(stringifyJson(object))
  for (const piece of pieces) {
    parts.text(piece)
    yield true
  }
  return parts.end()
}

export function objectResponse(
  responder: Responder,
  status: number,
  object: object,
  { encoding, pretty }: Representation,
  type: () => StructType,
): ApiResponse {
  return encodedResponse(responder, status, runAtOnce(objectSteps(object, encoding, pretty, type)), encoding)
}

/** As `objectResponse`, where the object may be large: it is printed in slices then. */
export function slicedResponse(
  { responder, scheduler }: { readonly responder: Responder; readonly scheduler: SliceScheduler },
  status: number,
  object: object,
  { encoding, pretty }: Representation,
  type: () => StructType,
): ApiResponse | Promise<ApiResponse> {
  const body = runSyncOrInSlices(objectSteps(object, encoding, pretty, type), scheduler)
  return body instanceof Promise
    ? body.then((made) => encodedResponse(responder, status, made, encoding))
    : encodedResponse(responder, status, body, encoding)
}

/** An answer whose body is encoded already. */
export function encodedResponse({ vendor }: Responder, status: number, body: ApiBody, encoding: Encoding): ApiResponse {
  return { status, headers: { ...commonHeaders, 'content-type': mediaType(encoding, vendor) }, body }
}

/** A Status in the form that the client can read, JSON when there is none. */
export function statusResponse(responder: Responder, status: Status, accept: string | undefined, success?: number): ApiResponse {
  const code = success ?? status.code ?? 500
  const encoding = errorEncoding(responder.negotiator, accept)
  const response = objectResponse(responder, code, status, { encoding, pretty: false }, () =>
    responder.types.struct('meta/v1.Status'),
  )
  const retryAfter = status.details?.retryAfterSeconds
  return retryAfter === undefined || retryAfter === 0
    ? response
    : { ...response, headers: { ...response.headers, 'retry-after': String(retryAfter) } }
}

function errorEncoding(negotiator: Negotiator, accept: string | undefined): Encoding {
  try {
    // A failure has no other forms: who asked for nothing else gets it as JSON.
    return negotiator.negotiate(accept, { refusal: true }).encoding
  } catch {
    // Nothing acceptable: a JSON Status is better than no answer.
    return 'json'
  }
}

/** Any failure as an answer; what is not an ApiError is a fault of the server, told without its text. */
export function errorResponse(responder: Responder, error: unknown, accept: string | undefined): ApiResponse {
  const known = ApiError.is(error) ? error : ApiError.internalError('the request failed; the server keeps the reason in its log')
  return statusResponse(responder, known.status, accept)
}
