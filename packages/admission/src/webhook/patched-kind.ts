import { ApiError, field, isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { stringifyJson } from '@krmkit/schema'
import type { ObjectVersion, VersionConverter } from '../interfaces.ts'
import { internalFailure } from '../refusals.ts'
import { isKindOfEveryGroup, typeMember, typeMetaMismatch } from './review-body.ts'
import { WebhookError } from './webhook-error.ts'

/**
 * Checks that a patch of a webhook or policy has kept the kind and the version of an object. Absent members count as unchanged, except in
 * custom resources.
 *
 * @throws ApiError as kube-apiserver: 500 for a value that cannot be decoded as the object, 422 for another kind of a custom resource's group
 */
export function checkPatchedKind(value: JsonValue, version: ObjectVersion, versionConverter: VersionConverter | undefined): void {
  if (value === null) return
  const given = typeOf(value)
  const { group, kind } = version.kind
  const wanted = group === '' ? version.kind.version : `${group}/${version.kind.version}`
  if (versionConverter?.isCustom?.(version) === true) checkCustom(value as JsonObject, { ...given, version, wanted })
  else if ((given.kind || kind) !== kind || (given.apiVersion || wanted) !== wanted) {
    const [theirs, itsGroup] = [given.apiVersion || wanted, given.group ?? group]
    const theirVersion = theirs.slice(theirs.indexOf('/') + 1)
    const theirKind = given.kind || kind
    const isKnown = versionConverter?.knowsKind?.({ group: itsGroup, version: theirVersion, kind: theirKind }) ?? true
    if (!isKnown && !isKindOfEveryGroup(theirs, theirKind)) {
      const what = `no kind ${JSON.stringify(theirKind)} is registered for version ${JSON.stringify(theirs)}`
      throw ApiError.internalError(`${what} in scheme "pkg/runtime/scheme.go:110"`)
    }
    const to = `${group === '' ? 'core' : group.split('.', 1)[0]}.${kind}`
    throw internalFailure(`converting (${theirVersion}.${theirKind}) to (${to}): unknown conversion`)
  }
}

interface GivenType {
  readonly kind: string
  readonly apiVersion: string
  /** Undefined without an apiVersion. */
  readonly group: string | undefined
}

function typeOf(value: JsonValue): GivenType {
  try {
    if (!isJsonObject(value)) throw typeMetaMismatch(value)
    const [kind, apiVersion] = [typeMember(value, 'kind'), typeMember(value, 'apiVersion')]
    const slash = apiVersion.indexOf('/')
    if (slash !== apiVersion.lastIndexOf('/')) throw ApiError.internalError(`unexpected GroupVersion string: ${apiVersion}`)
    return { kind, apiVersion, group: apiVersion === '' ? undefined : apiVersion.slice(0, Math.max(slash, 0)) }
  } catch (error) {
    throw error instanceof WebhookError ? ApiError.internalError(error.message) : error
  }
}

function checkCustom(
  value: JsonObject,
  { kind, apiVersion, group = '', version, wanted }: GivenType & { readonly version: ObjectVersion; readonly wanted: string },
): void {
  if (kind === '') throw ApiError.internalError(`Object 'Kind' is missing in '${stringifyJson(value)}'`)
  if (group !== version.kind.group) {
    const theirs = `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`
    throw internalFailure(`${theirs} is unstructured and is not suitable for converting to ${JSON.stringify(wanted)}`)
  }
  if (apiVersion !== wanted) throw internalFailure(`request to convert CR from an invalid group/version: ${apiVersion}`)
  if (kind === version.kind.kind) return
  const { metadata } = value
  const name = isJsonObject(metadata) && typeof metadata.name === 'string' ? metadata.name : ''
  throw ApiError.invalid({ group, kind }, name, [field.invalid('kind', kind, `must be ${version.kind.kind}`)])
}
