import { concatBytes } from '@krmkit/base/bytes'
import { type GroupVersionKind, isJsonObject, type JsonValue, parseApiVersion } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { decodeProtobuf, parseJson, parseYaml, readEnvelope, type StructType } from '@krmkit/schema'
import type { RequestInfo } from '../request/info.ts'

/** Request and response bodies in audit events. */

export interface BodyReader {
  /** The object in a response body, in any encoding; undefined for streams and other content. */
  response(response: ApiResponse): JsonValue | undefined
}

const maxBodyBytes = 8 * 1024 * 1024

/** @param typeOf the type of a kind, for protobuf; undefined for unknown kinds. */
export function createBodyReader(typeOf: (gvk: GroupVersionKind) => StructType | undefined): BodyReader {
  const decoded = new WeakMap<ApiResponse, { readonly value: JsonValue | undefined }>()
  return {
    response(response) {
      let cached = decoded.get(response)
      if (cached === undefined) {
        cached = { value: readResponse(response, typeOf) }
        decoded.set(response, cached)
      }
      return cached.value
    },
  }
}

function readResponse(
  { headers, body }: ApiResponse,
  typeOf: (gvk: GroupVersionKind) => StructType | undefined,
): JsonValue | undefined {
  const bytes = bytesOf(body)
  if (bytes === undefined || bytes.byteLength === 0 || bytes.byteLength > maxBodyBytes) return undefined
  const type = String(headers['content-type'] ?? '')
  try {
    if (type.includes('json')) return parseJson(bytes).value as JsonValue
    if (type.includes('yaml')) return parseYaml(bytes).value as JsonValue
    if (!type.includes('protobuf')) return undefined
    const envelope = readEnvelope(bytes)
    const struct = typeOf({ ...parseApiVersion(envelope.apiVersion), kind: envelope.kind })
    return struct === undefined ? undefined : (decodeProtobuf(struct, envelope).object as JsonValue)
  } catch {
    // The event is emitted without the body.
    return undefined
  }
}

function bytesOf(body: ApiResponse['body']): Uint8Array | undefined {
  if (body.kind === 'bytes') return body.bytes
  if (body.kind !== 'list' || body.length > maxBodyBytes) return undefined
  return concatBytes(body.parts.map((part) => ('bytes' in part ? part.bytes() : part)))
}

/** Removes `metadata.managedFields` of an object, and of the items of a list. */
export function withoutManagedFields(value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value
  const { metadata, items } = value
  let out = value
  if (isJsonObject(metadata) && Object.hasOwn(metadata, 'managedFields')) {
    const { managedFields: _, ...rest } = metadata
    out = { ...out, metadata: rest }
  }
  return Array.isArray(items) ? { ...out, items: items.map(withoutManagedFields) } : out
}

/** Replaces tokens at every audit level, because readers of the log could use the tokens. */
const redacted = '(not kept)'

/** Replaces the message of an error that may quote a body with a secret. */
export const withoutQuote = 'the body of the request could not be read (the error is not kept)'

/** Whether bodies of requests to a path hold secrets, so that errors which quote a malformed body must not reach readers of the log. */
export function holdsSecrets({ group, resource, subresource }: RequestInfo): boolean {
  const path = `${group}/${resource}${subresource === '' ? '' : `/${subresource}`}`
  return path === '/secrets' || path === '/serviceaccounts/token' || path.endsWith('/tokenreviews')
}

/** Redacts the tokens of TokenReview and TokenRequest. */
export function withoutTokens(value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value
  const { kind, spec, status } = value
  if (kind === 'TokenReview' && isJsonObject(spec) && Object.hasOwn(spec, 'token')) {
    return { ...value, spec: { ...spec, token: redacted } }
  }
  if (kind === 'TokenRequest' && isJsonObject(status) && Object.hasOwn(status, 'token')) {
    return { ...value, status: { ...status, token: redacted } }
  }
  return value
}
