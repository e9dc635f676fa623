import type { ResourceDefinition } from '@krmkit/kinds'
import {
  ApiError,
  formatApiVersion,
  type GroupVersionKind,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseApiVersion,
} from '@krmkit/meta'
import { memberNames, sortSteps, type Work } from '@krmkit/meta/work'
import { DecodeError } from '@krmkit/schema'
import { readTypeMeta, type TypeMeta } from '@krmkit/schema/decode'
import { unknownProblems } from '@krmkit/schema/json'
import { otherKind, typeProblem } from './body-type.ts'
import type { PatchRequest } from './patch-request.ts'
import { withMembers } from './with-members.ts'

/** The kind and version that a patch leaves in its result. */

/** What the kind and version of a patched object mean. */
export interface PatchedType {
  /** The patched object with the kind and version of its resource. */
  readonly value: JsonValue
  /**
   * Strict decoding problems when the patch removed the version. Such an object counts as one of the internal version, which has no
   * JSON names: all members are unknown, also the name.
   */
  readonly unversioned?: readonly string[]
  /** The served version of the kind that the patch changed the object to; the result is converted back. */
  readonly version?: ResourceDefinition
}

/**
 * Reads kind and version of the result of a patch. JSON and merge patches may remove the kind but not change it; strategic merge patches
 * work on typed objects, so their kind and version have no effect.
 *
 * @throws ApiError 400, 422 when the object became one of another type, or kind or version is not a string
 */
export function* patchedType(request: PatchRequest, value: JsonValue): Work<PatchedType> {
  const { scope, target, body } = request
  const { gvk, type } = target
  if (type().custom !== undefined || body.kind === 'apply') {
    requireSameType(request, value)
    return { value }
  }
  const own = { apiVersion: formatApiVersion(gvk), kind: gvk.kind }
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

function otherVersion({ scope, target }: PatchRequest, stated: GroupVersionKind): ResourceDefinition | undefined {
  const { definition, registry } = scope
  // A Scale has one version.
  if (target.gvk !== definition.kind) return undefined
  const isStated = ({ kind }: ResourceDefinition) =>
    kind.kind === stated.kind && kind.group === stated.group && kind.version === stated.version
  return registry.served.versionsOf(definition.storage).find(isStated)
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

/** Sets kind and version. A value that has them is not copied: it may be large. */
function* withType(value: JsonValue, type: { readonly apiVersion: string; readonly kind: string }): Work<JsonValue> {
  const own = (isJsonObject(value) ? value : {}) as JsonObject
  return own['apiVersion'] === type.apiVersion && own['kind'] === type.kind ? value : yield* withMembers(own, type)
}

/** Strict decoding problems of an object whose members are all unknown. */
function* unknownMembers(value: JsonValue): Work<readonly string[]> {
  const names = memberNames((value ?? {}) as object).filter((name) => name !== 'kind' && name !== 'apiVersion')
  yield true
  return unknownProblems(yield* sortSteps(names))
}

/** @throws ApiError 400, 422 */
function requireSameType({ context, target }: PatchRequest, value: JsonValue): void {
  const { gvk, type } = target
  const { kind, apiVersion } = (value ?? {}) as { kind?: unknown; apiVersion?: unknown }
  const sameVersion = apiVersion === formatApiVersion(gvk)
  if (sameVersion && kind === gvk.kind) return
  if (type().custom !== undefined && sameVersion && typeof kind === 'string' && kind !== '')
    throw otherKind(gvk, kind, context.info.name)
  throw ApiError.badRequest(`the patch changes the type of the object, which is ${formatApiVersion(gvk)}, Kind=${gvk.kind}`)
}
