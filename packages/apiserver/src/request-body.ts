import { ApiError, type ApiObject, type GroupVersionKind } from '@krmkit/meta'
import { applyDefaults, DecodeError, decodeBody, type StructType } from '@krmkit/schema'
import type { Machinery } from './resource-handler.ts'
import { mediaType } from './negotiation.ts'
import { header, type RequestState } from './request-state.ts'
import { apiVersionOf } from './verbs/read.ts'

export type BodyEncoding = 'json' | 'yaml' | 'protobuf'

/** What a body is meant to be. */
export interface Expected {
  readonly gvk: GroupVersionKind
  readonly type: () => StructType
  /** The kind as it stands, before `v1.`, in texts such as `converting (v1.Secret) to (core.ConfigMap)`. */
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict'
}

/** @throws ApiError 415 for a type that is not read. */
export function bodyEncoding({ request }: RequestState, vendor: string): BodyEncoding {
  const given = (header(request, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (given === '' || given === 'application/json') return 'json'
  if (given === 'application/yaml') return 'yaml'
  if (given === mediaType('protobuf', vendor)) return 'protobuf'
  throw ApiError.unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, ${mediaType('protobuf', vendor)}`,
  )
}

/** Reads the body as an object of the expected kind: canonical, with the defaults of its type. */
export async function readObject(machinery: Machinery, state: RequestState, expected: Expected): Promise<ApiObject> {
  const encoding = bodyEncoding(state, machinery.responder.vendor)
  const bytes = await state.request.body(machinery.limits.bodyBytes)
  return decodeObject(machinery, state, expected, bytes, encoding)
}

/** @throws ApiError 400 for what cannot be decoded, and for unknown and duplicate fields under Strict. */
export function decodeObject(machinery: Machinery, state: RequestState, expected: Expected, bytes: Uint8Array, encoding: BodyEncoding): ApiObject {
  const { gvk, fieldValidation } = expected
  try {
    const decoded = decodeBody(bytes, {
      encoding,
      gvk,
      type: expected.type(),
      types: machinery.responder.types,
      strict: fieldValidation !== 'Ignore',
      isRegistered: (other) => machinery.kind(other) !== undefined,
    })
    if (decoded.problems.length > 0) {
      if (fieldValidation === 'Strict') throw strictError(gvk, decoded.problems)
      if (fieldValidation === 'Warn') state.warnings.push(...decoded.problems)
    }
    const object = decoded.object as ApiObject
    object.apiVersion = apiVersionOf(gvk.group, gvk.version)
    object.kind = gvk.kind
    return object
  } catch (error) {
    if (error instanceof DecodeError) throw ApiError.badRequest(error.message)
    throw error
  }
}

export function strictError(gvk: GroupVersionKind, problems: readonly string[]): ApiError {
  return ApiError.badRequest(`${gvk.kind} in version ${JSON.stringify(gvk.version)} cannot be handled as a ${gvk.kind}: strict decoding error: ${problems.join(', ')}`)
}

/** Defaults of the type, then those that depend on other fields. */
export function setDefaults(machinery: Machinery, object: ApiObject, definition: { kind: GroupVersionKind & { type: () => StructType }; policy: { defaults?(object: ApiObject, version: string): void } }): void {
  applyDefaults(definition.kind.type(), object)
  definition.policy.defaults?.(object, definition.kind.version)
}
