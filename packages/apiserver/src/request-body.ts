import { missingMembers, type ResourceDefinition } from '@krmkit/kinds'
import {
  ApiError,
  type ApiObject,
  field,
  formatApiVersion,
  type GroupVersionKind,
  type NamingProfile,
  Path,
  parseApiVersion,
} from '@krmkit/meta'
import {
  applyDefaults,
  type Decoded,
  DecodeError,
  type DecodeOptions,
  decode,
  decodeFailureMessage,
  decodeProtobuf,
  missingTypeMeta,
  parseJson,
  parseYaml,
  readEnvelope,
  readTypeMeta,
  type StructType,
  strictMessage,
  type TypeMeta,
  unreadableTypeMeta,
} from '@krmkit/schema'
import { noteRequestObject } from './audit/note-request.ts'
import { mediaType } from './negotiation.ts'
import { header, type RequestState } from './request-state.ts'
import type { Machinery } from './resource-handler.ts'

export type BodyEncoding = 'json' | 'yaml' | 'protobuf'

/** What a body is meant to be. */
export interface Expected {
  readonly gvk: GroupVersionKind
  readonly type: () => StructType
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict'
  /** The kind is known in every group version (`DeleteOptions`). */
  readonly anyGroup?: boolean
  /** Further versions of the group whose bodies are the same. */
  readonly otherVersions?: readonly string[]
  /** Paths of members that a body in text must name; @see KindPolicy.requiredMembers */
  readonly required?: readonly (readonly string[])[] | undefined
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

/** Reads the body as an object of the expected kind, in canonical form. */
export async function readObject(machinery: Machinery, state: RequestState, expected: Expected): Promise<ApiObject> {
  const encoding = bodyEncoding(state, machinery.responder.vendor)
  const bytes = await state.request.body(machinery.limits.bodyBytes)
  return decodeObject(machinery, state, expected, { bytes, encoding })
}

/**
 * Decodes a body; unknown and duplicate fields become warnings or a refusal.
 *
 * @throws ApiError 400 that says what is wrong and where.
 * @see API protocol specification, 4.6
 */
export function decodeObject(
  machinery: Machinery,
  state: RequestState,
  expected: Expected,
  { bytes, encoding }: { readonly bytes: Uint8Array; readonly encoding: BodyEncoding },
): ApiObject {
  const { gvk, fieldValidation } = expected
  const { decoded, actual } = decodeBytes(machinery, expected, bytes, encoding)
  const { problems } = decoded
  if (problems.length > 0 && fieldValidation === 'Strict') throw strictFailure(gvk, problems, bytes, actual)
  if (problems.length > 0 && fieldValidation === 'Warn') state.warnings.push(...problems)
  const object = decoded.object as ApiObject
  object.apiVersion = formatApiVersion(gvk)
  object.kind = gvk.kind
  noteRequestObject(state, object)
  return object
}

type Actual = { readonly kind: string; readonly version: string }

function decodeBytes(
  machinery: Machinery,
  expected: Expected,
  bytes: Uint8Array,
  encoding: BodyEncoding,
): { readonly decoded: Decoded; readonly actual: Actual } {
  const { gvk, type } = expected
  const collect = expected.fieldValidation !== 'Ignore'
  let actual: Actual | undefined
  try {
    if (encoding === 'protobuf' && type().custom !== undefined)
      throw new DecodeError('TypeMeta', 'objects of custom resources have no protobuf form')
    if (encoding === 'protobuf') {
      const envelope = readEnvelope(bytes)
      actual = checkType(machinery, expected, envelope)
      return { decoded: decodeProtobuf(type(), envelope), actual }
    }
    const { value, ...rest } = parseText(bytes, encoding)
    const stated = readTypeMeta(value)
    actual =
      type().custom === undefined ? checkType(machinery, expected, stated) : checkCustomType(expected, stated, { value, bytes })
    const decoded = decodeText(type(), value, { ...rest, collect, encoding })
    checkRequired(expected, value)
    return { decoded, actual }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw ApiError.badRequest(decodeFailureMessage(error, { expectedKind: gvk.kind, actual, body: bytes }))
  }
}

/** What is wrong in YAML is told in the order of its keys. */
function decodeText(
  type: StructType,
  value: unknown,
  { encoding, ...options }: DecodeOptions & { readonly encoding: 'json' | 'yaml' },
): Decoded {
  const decoded = decode(type, value, options)
  return encoding === 'json' || decoded.problems.length < 2 ? decoded : decode(type, inKeyOrder(value), options)
}

function inKeyOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(inKeyOrder)
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([name, member]) => [name, inKeyOrder(member)]))
}

function parseText(bytes: Uint8Array, encoding: 'json' | 'yaml'): { value: unknown } & DecodeOptions {
  try {
    return encoding === 'json' ? parseJson(bytes, { literals: true }) : parseYaml(bytes)
  } catch (error) {
    throw error instanceof DecodeError ? unreadableTypeMeta(error) : error
  }
}

/** @throws ApiError 422 for members that the body does not name. */
function checkRequired({ gvk, required = [] }: Expected, value: unknown): void {
  const missing = missingMembers(value, required)
  if (missing.length === 0) return
  const name = (value as { metadata?: { name?: unknown } | null } | null)?.metadata?.name
  const errors = missing.map((path) => field.required(path))
  throw ApiError.invalid({ group: gvk.group, kind: gvk.kind }, typeof name === 'string' ? name : '', errors)
}

/** What the body says it is must be what is expected; what it leaves out is supplied. @throws ApiError 400 */
function checkType(
  machinery: Machinery,
  { gvk, anyGroup = false, otherVersions = [] }: Expected,
  given: { apiVersion: string; kind: string },
): Actual {
  const stated = given.apiVersion === '' ? { group: gvk.group, version: gvk.version } : parseApiVersion(given.apiVersion)
  const kind = given.kind === '' ? gvk.kind : given.kind
  const actual = { kind, version: stated.version }
  const knowsVersion = stated.version === gvk.version || otherVersions.includes(stated.version)
  if (kind === gvk.kind && (anyGroup || (stated.group === gvk.group && knowsVersion))) return actual
  const known = machinery.kind({ ...stated, kind }) !== undefined || machinery.knowsList({ ...stated, kind })
  const why = known
    ? `converting (${stated.version}.${kind}) to (${internalName(gvk.group)}.${gvk.kind}): unknown conversion`
    : `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(formatApiVersion(stated))} in scheme "pkg/runtime/scheme.go:110"`
  throw ApiError.badRequest(`${kind} in version ${JSON.stringify(stated.version)} cannot be handled as a ${gvk.kind}: ${why}`)
}

/**
 * Objects of custom resources must say themselves what they are.
 *
 * @throws DecodeError `TypeMeta` without a kind; ApiError 400 for another version, 422 for another kind.
 */
function checkCustomType(
  { gvk }: Expected,
  { apiVersion, kind }: TypeMeta,
  { value, bytes }: { readonly value: unknown; readonly bytes: Uint8Array },
): Actual {
  if (kind === '') throw missingTypeMeta('Kind', new TextDecoder().decode(bytes))
  const wanted = formatApiVersion(gvk)
  if (apiVersion !== wanted) {
    throw ApiError.badRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${wanted})`)
  }
  if (kind !== gvk.kind) {
    const name = (value as { metadata?: { name?: unknown } }).metadata?.name
    throw otherKind(gvk, kind, typeof name === 'string' ? name : '')
  }
  return { kind, version: gvk.version }
}

/** The refusal of an object of a custom group whose kind is not that of the path. */
export function otherKind(gvk: GroupVersionKind, kind: string, name: string): ApiError {
  return ApiError.invalid({ group: gvk.group, kind }, name, [field.invalid(Path.of('kind'), kind, `must be ${gvk.kind}`)])
}

/** `core` for the core group, otherwise the first part of the group's name. */
function internalName(group: string): string {
  return group === '' ? 'core' : (group.split('.')[0] ?? group)
}

/** The refusal of a body with unknown or duplicate fields under `Strict`. */
export function strictFailure(gvk: GroupVersionKind, problems: readonly string[], body: Uint8Array, actual?: Actual): ApiError {
  const message = strictMessage(problems) ?? ''
  return ApiError.badRequest(
    decodeFailureMessage(
      { message },
      { expectedKind: gvk.kind, actual: actual ?? { kind: gvk.kind, version: gvk.version }, body },
    ),
  )
}

/**
 * The object with the defaults of its type, and then those that depend on other fields. The argument is the caller's own and
 * may come back changed.
 */
export function withDefaults(object: ApiObject, definition: ResourceDefinition, profile: NamingProfile): ApiObject {
  const defaulted = applyDefaults(definition.kind.type(), object)
  definition.policy.defaults?.(defaulted, definition.kind.version, profile)
  return defaulted
}
