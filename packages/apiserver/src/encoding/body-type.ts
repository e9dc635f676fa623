import type { Work } from '@krmkit/base/work'
import type { CustomForm, KindInfo } from '@krmkit/kinds'
import { ApiError, formatApiVersion, type GroupVersionKind, type JsonObject, parseApiVersion } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { DecodeError, type StructType, strictMessage } from '@krmkit/schema'
import { decodeFailureMessage, missingTypeMeta, type TypeMeta } from '@krmkit/schema/decode'
import { decode } from '@krmkit/schema/paced'
import { internalPackage, type ServerScope } from '../request/scope.ts'
import { convertedJson } from './key-order.ts'
import type { ParsedText, TextEncoding } from './large-body.ts'

/** Checks that a body has the kind and version of its request. */

/** The object that a body must contain. */
export interface Expected {
  readonly gvk: GroupVersionKind
  readonly type: () => StructType
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict'
  /** Whether the kind exists in every group version, like `DeleteOptions`. */
  readonly anyGroup?: boolean
  /** Further versions of the group with the same body. */
  readonly otherVersions?: readonly string[]
  /** Paths of members that a text body must contain. @see Strategy.requiredMembers */
  readonly required?: readonly (readonly string[])[] | undefined
  /** Members whose empty lists and maps are kept. @see Strategy.distinctEmpties */
  readonly keepEmpties?: readonly (readonly string[])[] | undefined
  /** The kinds of all versions of a custom resource. @see CustomForm */
  readonly versions?: CustomForm['kinds']
  /** Called when the body of a custom resource has another kind. The body is decoded nevertheless; validation refuses it. */
  readonly onOtherKind?: (stated: TypeMeta) => void
  /** Whether the body is never stored, so that its limit is 256 KiB. Differs: 3 MiB on kube-apiserver. */
  readonly unstored?: boolean
  /** Whether the body is decoded with the kinds of the meta group alone, whose errors do not name the expected kind. */
  readonly isMeta?: boolean
}

/** Kind and version in a body. */
export type Actual = { readonly kind: string; readonly version: string }

/** Kinds that belong to every group version. */
const unversionedKinds: ReadonlySet<string> = new Set(['Status', 'APIVersions', 'APIGroupList', 'APIGroup', 'APIResourceList'])

/** Kinds of options that every group version has. */
const optionKinds: ReadonlySet<string> = new Set(['CreateOptions', 'UpdateOptions', 'PatchOptions', 'DeleteOptions'])

/** Checks kind and version of the body; omitted values are taken from the path. @throws ApiError 400 */
export function* checkType(
  scope: ServerScope,
  expected: Expected,
  given: { apiVersion: string; kind: string },
  body?: TypedBody,
): Work<Actual> {
  const { gvk, anyGroup = false, otherVersions = [] } = expected
  const stated = given.apiVersion === '' ? { group: gvk.group, version: gvk.version } : parseApiVersion(given.apiVersion)
  const kind = given.kind === '' ? gvk.kind : given.kind
  const actual = { kind, version: stated.version }
  const knowsVersion = stated.version === gvk.version || otherVersions.includes(stated.version)
  if (kind === gvk.kind && (anyGroup || (stated.group === gvk.group && knowsVersion))) return actual
  if (expected.isMeta === true) throw ApiError.badRequest(metaTypeProblem(scope, gvk, { ...stated, kind }))
  const other = scope.kind({ ...stated, kind })
  const isVersion = other !== undefined && isOtherVersion(scope, other, gvk)
  if (other !== undefined && body !== undefined) yield* decodeAs(other, { ...body, expected, actual, isVersion })
  if (isVersion) throw versionMismatch(formatApiVersion(stated), gvk)
  const why = typeProblem(scope, gvk, { ...stated, kind })
  throw ApiError.badRequest(`${kind} in version ${JSON.stringify(stated.version)} cannot be handled as a ${gvk.kind}: ${why}`)
}

/** Whether a kind is another version of the wanted kind, possibly in another group. */
export function isOtherVersion(
  { profile }: ServerScope,
  { kind, group, replacement }: KindInfo,
  wanted: GroupVersionKind,
): boolean {
  if (kind !== wanted.kind) return false
  const eventGroups = ['', `events.${profile.apiDomain}`]
  const isEvent = kind === 'Event' && eventGroups.includes(group) && eventGroups.includes(wanted.group)
  return isEvent || group === wanted.group || (replacement?.kind === kind && replacement.group === wanted.group)
}

function versionMismatch(apiVersion: string, wanted: GroupVersionKind): ApiError {
  const expected = formatApiVersion(wanted)
  return ApiError.badRequest(`the API version in the data (${apiVersion}) does not match the expected API version (${expected})`)
}

/**
 * The error message for an object of kind `stated` that cannot be converted to kind `wanted`. An empty version of `stated` means the
 * internal version.
 */
export function typeProblem(scope: ServerScope, wanted: GroupVersionKind, stated: GroupVersionKind): string {
  const { version, kind } = stated
  const isUnversioned = unversionedKinds.has(kind)
  const known = isUnversioned || scope.kind(stated) !== undefined || scope.knowsList(stated)
  if (known)
    return `converting (${isUnversioned ? 'v1' : version}.${kind}) to (${internalPackage(wanted.group)}.${wanted.kind}): unknown conversion`
  return unknownKind(scope, stated)
}

/** The error message for an object of kind `stated` where only the kinds of the meta group are known. */
function metaTypeProblem(scope: ServerScope, wanted: GroupVersionKind, stated: GroupVersionKind): string {
  const { group, kind } = stated
  const isShared = unversionedKinds.has(kind) || optionKinds.has(kind)
  const isKnown = isShared || (group === `meta.${scope.profile.apiDomain}` && scope.kind(stated) !== undefined)
  return isKnown ? `converting (v1.${kind}) to (v1.${wanted.kind}): unknown conversion` : unknownKind(scope, stated)
}

function unknownKind(scope: ServerScope, { group, version, kind }: GroupVersionKind): string {
  const where =
    version === ''
      ? `the internal version of group ${JSON.stringify(group)}`
      : `version ${JSON.stringify(formatApiVersion({ group, version }))}`
  const line = scope.features.release.atLeast('1.35') ? 111 : 110
  return `no kind ${goQuote(kind)} is registered for ${where} in scheme "pkg/runtime/scheme.go:${line}"`
}

interface ParsedBody {
  readonly value: unknown
  readonly bytes: Uint8Array
}

/** A parsed body of a built-in kind. */
interface TypedBody extends ParsedBody {
  /** The result of the parser without the value. */
  readonly rest: Omit<ParsedText, 'value'>
  readonly warn: (problems: readonly string[]) => void
}

interface CustomBody extends TypedBody {
  readonly encoding: TextEncoding
}

interface OtherDecoding extends TypedBody {
  readonly expected: Expected
  readonly actual: Actual
  /** Whether the kind is another version of the expected kind. */
  readonly isVersion: boolean
}

/**
 * Decodes a body whose kind differs from the path. Errors of decoding are reported before the mismatch; so are problems, such as unknown
 * fields, when the body has another version of the kind.
 *
 * @throws ApiError 400
 */
function* decodeAs(
  other: Pick<KindInfo, 'type'>,
  { value, bytes, rest, warn, expected, actual, isVersion }: OtherDecoding,
): Work {
  const { gvk, fieldValidation } = expected
  try {
    const { problems } = yield* decode(other.type(), value, { ...rest, collect: isVersion && fieldValidation !== 'Ignore' })
    if (problems.length > 0 && fieldValidation === 'Strict') throw strictFailure(gvk, problems, bytes, actual)
    if (fieldValidation !== 'Ignore') warn(problems)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw ApiError.badRequest(decodeFailureMessage(error, { expectedKind: gvk.kind, actual, body: bytes }))
  }
}

/** Maximum number of body bytes in an error message. Differs: kube-apiserver shows the whole body. */
const shownBytes = 4096

/**
 * Checks kind and version in the body of a custom resource; both are required.
 *
 * @throws DecodeError `TypeMeta` without a kind; ApiError 400 for another version
 */
export function* checkCustomType(expected: Expected, { apiVersion, kind }: TypeMeta, body: CustomBody): Work<Actual> {
  const { gvk, fieldValidation, onOtherKind } = expected
  const { bytes, rest, warn } = body
  if (kind === '') throw yield* missingKind(expected, apiVersion, body)
  const isExpected = apiVersion === formatApiVersion(gvk)
  const stated = parseApiVersion(apiVersion)
  const actual = { kind, version: stated.version }
  if (!isExpected && kind === gvk.kind && stated.group === gvk.group) {
    const other = expected.versions?.get(apiVersion)
    const known = other === undefined ? ofUnknownVersion(body) : body
    yield* decodeAs(other ?? expected, { ...known, expected, actual, isVersion: true })
  } else if (!isExpected || kind !== gvk.kind) {
    // Repeated keys of YAML are already known from parsing.
    const { problems = [] } = rest
    if (problems.length > 0 && fieldValidation === 'Strict') throw strictFailure({ ...gvk, kind }, problems, bytes, actual)
    if (fieldValidation !== 'Ignore') warn(problems)
  }
  if (!isExpected) throw versionMismatch(apiVersion, gvk)
  if (kind !== gvk.kind) onOtherKind?.({ apiVersion, kind })
  return actual
}

/**
 * The error for a body without a kind. With field validation `Ignore`, kube-apiserver uses another decoder, whose error names the kind of
 * the request and shows the body as JSON.
 */
function* missingKind(
  { gvk, fieldValidation }: Expected,
  apiVersion: string,
  { value, bytes, encoding }: CustomBody,
): Work<DecodeError | ApiError> {
  const original = () => new TextDecoder().decode(bytes.subarray(0, shownBytes))
  if (fieldValidation !== 'Ignore') return missingTypeMeta('Kind', original())
  const text = encoding === 'yaml' ? (yield* convertedJson(value)).slice(0, shownBytes) : original().trim()
  const { group, version } = apiVersion === '' ? gvk : parseApiVersion(apiVersion)
  const actual = { kind: gvk.kind, version: version === '' && group === gvk.group ? gvk.version : version }
  const message = decodeFailureMessage(missingTypeMeta('Kind', text), { expectedKind: gvk.kind, actual, body: bytes })
  return ApiError.badRequest(message)
}

/** A body of a version that the definition does not have: only apiVersion, kind and metadata are known fields. */
function ofUnknownVersion({ value, rest, ...body }: TypedBody): TypedBody {
  const { apiVersion, kind, metadata, ...others } = value as JsonObject
  const known = { apiVersion, kind, ...(metadata === undefined ? {} : { metadata }) }
  const unknown = Object.keys(others)
    .sort()
    .map((name) => `unknown field "${name}"`)
  return { ...body, value: known, rest: { ...rest, problems: [...(rest.problems ?? []), ...unknown] } }
}

/** The 400 for unknown or duplicate fields under `Strict`. */
export function strictFailure(gvk: GroupVersionKind, problems: readonly string[], body: Uint8Array, actual?: Actual): ApiError {
  const message = strictMessage(problems) ?? ''
  return ApiError.badRequest(
    decodeFailureMessage(
      { message },
      { expectedKind: gvk.kind, actual: actual ?? { kind: gvk.kind, version: gvk.version }, body },
    ),
  )
}
