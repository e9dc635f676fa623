import type { GroupVersionKind, JsonObject, JsonValue } from '@krmkit/meta'
import { parseApiVersion } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import { decodeProtobuf, parseJson, parseYaml, readEnvelope, type StructType } from '@krmkit/schema'

/** Bodies as the trail keeps them. */

/** What an object says about itself, for the reference in an entry. */
export interface ObjectIdentity {
  readonly name?: string | undefined
  readonly namespace?: string | undefined
  readonly uid?: string | undefined
  readonly resourceVersion?: string | undefined
}

/** The body of a request, noted when it had been read. */
export interface AuditedObject {
  readonly identity: ObjectIdentity
  /** Only where bodies are kept. */
  readonly value: JsonValue | undefined
}

export interface BodyReader {
  /** The object of an answer, whatever its encoding; undefined for streams and what is no object. */
  response(response: ApiResponse): JsonValue | undefined
}

const maxBodyBytes = 8 * 1024 * 1024

/** @param typeOf the type of a kind; undefined when it is not known. */
export function createBodyReader(typeOf: (gvk: GroupVersionKind) => StructType | undefined): BodyReader {
  const read = new WeakMap<ApiResponse, { readonly value: JsonValue | undefined }>()
  return {
    response(response) {
      let known = read.get(response)
      if (known === undefined) {
        known = { value: readResponse(response, typeOf) }
        read.set(response, known)
      }
      return known.value
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
    // The trail tells what it can.
    return undefined
  }
}

function bytesOf(body: ApiResponse['body']): Uint8Array | undefined {
  if (body.kind === 'bytes') return body.bytes
  if (body.kind !== 'list' || body.length > maxBodyBytes) return undefined
  return Buffer.concat(body.parts.map((part) => ('bytes' in part ? part.bytes() : part)))
}

/** Without `metadata.managedFields`, of the items of a list too. */
export function withoutManagedFields(value: JsonValue): JsonValue {
  if (!isObject(value)) return value
  const { metadata, items } = value
  let out = value
  if (isObject(metadata) && Object.hasOwn(metadata, 'managedFields')) {
    const { managedFields: _, ...rest } = metadata
    out = { ...out, metadata: rest }
  }
  return Array.isArray(items) ? { ...out, items: items.map(withoutManagedFields) } : out
}

/** Never kept, whatever a policy says: who holds the trail could act as others. */
const redacted = '(not kept)'

/** Tokens that are asked about or issued stay out of the trail. */
export function withoutTokens(value: JsonValue): JsonValue {
  if (!isObject(value)) return value
  const { kind, spec, status } = value
  if (kind === 'TokenReview' && isObject(spec) && Object.hasOwn(spec, 'token')) {
    return { ...value, spec: { ...spec, token: redacted } }
  }
  if (kind === 'TokenRequest' && isObject(status) && Object.hasOwn(status, 'token')) {
    return { ...value, status: { ...status, token: redacted } }
  }
  return value
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
