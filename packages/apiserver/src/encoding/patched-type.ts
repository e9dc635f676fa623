import { memberNames, sort, type Work } from '@krmkit/base/work'
import type { ResourceDefinition } from '@krmkit/kinds'
import {
  ApiError,
  type ApiObject,
  formatApiVersion,
  type GroupVersionKind,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseApiVersion,
} from '@krmkit/meta'
import { DecodeError, type StructType } from '@krmkit/schema'
import { readTypeMeta, type TypeMeta } from '@krmkit/schema/decode'
import { unknownProblems } from '@krmkit/schema/json'
import { stringifyJson } from '@krmkit/schema/paced'
import { isOtherVersion, typeProblem } from './body-type.ts'
import type { PatchRequest } from './patch-request.ts'
import { withMembers } from './with-members.ts'

/** Checks the kind and version in the result of a patch. */

/** How to decode a patched object, by its kind and version. */
export interface PatchedType {
  /** The patched object, with kind and version of the request. */
  readonly value: JsonValue
  /**
   * Set when the patch removed the version: the problems of strict decoding. The object then counts as one of the internal version, which
   * has no JSON names, so that all members, including the name, are unknown.
   */
  readonly unversioned?: readonly string[]
  /** Whether a custom resource became an object of another group or kind. Its schema is not known, so no member counts as unknown. */
  readonly hasNoSchema?: boolean
  /** The version of the kind that the patch changed the object to; the result is converted back. */
  readonly version?: PatchedVersion
}

/** Another version of the patched kind, which need not be served. */
export interface PatchedVersion {
  readonly type: () => StructType
  /** Converts an object to the version of the request. */
  readonly convert: (object: ApiObject) => ApiObject | Promise<ApiObject>
}

/**
 * Reads kind and version of the result of a patch. JSON and merge patches may remove the kind but not change it; strategic merge patches
 * work on typed objects, so their kind and version have no effect.
 *
 * @throws ApiError 400 or 422 when the object has another type than before, or kind or version is not a string
 */
export function* patchedType(request: PatchRequest, value: JsonValue): Work<PatchedType> {
  const { scope, target, body } = request
  const { gvk, type } = target
  const own = { apiVersion: formatApiVersion(gvk), kind: gvk.kind }
  // The type of an applied configuration was checked when it was read.
  if (body.kind === 'apply') return { value }
  if (type().custom !== undefined) return yield* patchedCustomType(request, value, own)
  if (body.kind === 'strategic' && hasReadableType(value)) return { value: yield* withType(value, own) }
  const stated = statedType(value)
  if (stated.apiVersion === own.apiVersion && stated.kind === own.kind) return { value }
  const kind = stated.kind === '' ? gvk.kind : stated.kind
  const parsed = stated.apiVersion === '' ? { group: gvk.group, version: '' } : parseApiVersion(stated.apiVersion)
  if (kind !== gvk.kind || (stated.apiVersion !== '' && stated.apiVersion !== own.apiVersion)) {
    const version = otherVersion(request, { ...parsed, kind })
    if (version !== undefined) return { value, version }
    throw ApiError.badRequest(typeProblem(scope, gvk, { ...parsed, kind }))
  }
  const typed = yield* withType(value, own)
  return stated.apiVersion === '' ? { value: typed, unversioned: yield* unknownMembers(value) } : { value: typed }
}

function otherVersion({ scope, target }: PatchRequest, stated: GroupVersionKind): PatchedVersion | undefined {
  const { definition, registry, profile } = scope
  // A Scale has only one version.
  if (target.gvk !== definition.kind) return undefined
  const isStated = ({ kind }: ResourceDefinition) =>
    kind.kind === stated.kind && kind.group === stated.group && kind.version === stated.version
  const served = registry.served.versionsOf(definition.storage).find(isStated)
  if (served !== undefined) {
    const convert = (object: ApiObject) => {
      const stored = served.toStorage?.(object) ?? object
      return definition.fromStorage?.(stored) ?? stored
    }
    return { type: served.kind.type, convert }
  }
  const former = scope.kind(stated)
  if (former === undefined || !isOtherVersion(scope, former, target.gvk)) return undefined
  const convert = async (object: ApiObject) => {
    const { formerConversion } = await import('@krmkit/kinds/former-versions')
    const conversion = formerConversion(stated, target.gvk, { profile })
    if (conversion === undefined) throw ApiError.badRequest(typeProblem(scope, target.gvk, stated))
    return conversion(object)
  }
  return { type: former.type, convert }
}

/** @throws ApiError 400 */
function statedType(value: JsonValue): TypeMeta {
  try {
    return readTypeMeta(value)
  } catch (error) {
    throw error instanceof DecodeError ? ApiError.badRequest(error.message) : error
  }
}

function hasReadableType(value: JsonValue): boolean {
  const { apiVersion = '', kind = '' } = (value ?? {}) as { apiVersion?: JsonValue; kind?: JsonValue }
  return typeof apiVersion === 'string' && typeof kind === 'string'
}

/** Sets kind and version. A value that already has them is not copied, because it may be large. */
function* withType(value: JsonValue, type: { readonly apiVersion: string; readonly kind: string }): Work<JsonValue> {
  const own = (isJsonObject(value) ? value : {}) as JsonObject
  return own['apiVersion'] === type.apiVersion && own['kind'] === type.kind ? value : yield* withMembers(own, type)
}

/** Strict decoding problems of an object whose members are all unknown. */
function* unknownMembers(value: JsonValue): Work<readonly string[]> {
  const names = memberNames((value ?? {}) as object).filter((name) => name !== 'kind' && name !== 'apiVersion')
  yield true
  return unknownProblems(yield* sort(names))
}

/** A patch may give a custom resource another type, which validation refuses, but may not remove its type. @throws ApiError 400, 500 */
function* patchedCustomType(request: PatchRequest, value: JsonValue, own: TypeMeta): Generator<unknown, PatchedType> {
  if (isJsonObject(value) && value['apiVersion'] === own.apiVersion && value['kind'] === own.kind) return { value }
  const { apiVersion, kind } = statedType(value)
  if (kind === '') {
    const text = yield* stringifyJson(value)
    throw ApiError.badRequest(`Object 'Kind' is missing in '${text.slice(0, shownCharacters)}'`)
  }
  if (isJsonObject(value) && value['apiVersion'] === null)
    throw ApiError.badRequest('.apiVersion accessor error: <nil> is of the type <nil>, expected string')
  const { group, version } = parseApiVersion(apiVersion)
  if (version === '') throw ApiError.internalError("Object 'apiVersion' is missing in 'object has no apiVersion field'")
  const stated = { apiVersion: formatApiVersion({ group, version }), kind }
  if (stated.apiVersion !== own.apiVersion || kind !== own.kind) request.onOtherType?.(stated)
  const hasNoSchema = group !== parseApiVersion(own.apiVersion).group || kind !== own.kind
  return { value: yield* withType(value, own), hasNoSchema }
}

/** Maximum number of characters of an object in an error message. Differs: kube-apiserver shows the whole object. */
const shownCharacters = 4096
