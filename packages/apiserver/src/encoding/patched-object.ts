import { isLargeValue, Pace, runAtOnce, runInLaterTurns, whenDone } from '@krmkit/base/work'
import { FieldManagerError } from '@krmkit/fieldmanager'
import { missingErrors } from '@krmkit/kinds/strategies'
import { ApiError, type ApiObject, type DeepReadonly, formatApiVersion, type JsonObject, type JsonValue } from '@krmkit/meta'
import { type AppliedConfiguration, type DecodedObject, decodeRefusal, type FrozenObject } from '@krmkit/registry'
import { type Decoded, DecodedSize, decode } from '@krmkit/schema'
import * as pacedSchema from '@krmkit/schema/paced'
import { applyPatch } from './apply-patch.direct.ts'
import * as paced from './apply-patch.ts'
import { strictFailure } from './body-type.ts'
import { knownMembers } from './drop-unknown-fields.direct.ts'
import * as pacedFields from './drop-unknown-fields.ts'
import { configurationPrefix, type PatchBody } from './patch-body.ts'
import type { PatchRequest, PatchTarget } from './patch-request.ts'
import { type PatchedType, patchedType } from './patched-type.ts'
import { withMembers } from './with-members.ts'

/** Applies patches and decodes their results. */

/** The object after a JSON, merge or strategic merge patch. Returns a promise when the object is large. @throws ApiError 400, 413, 422 */
export function patchedObject(request: PatchRequest, before: DeepReadonly<object>): DecodedObject | Promise<DecodedObject> {
  const { body } = request
  if (body.refusal !== undefined) throw body.refusal
  const original = before as JsonValue
  const { value: patch, problems } = body
  if (isLargeValue(patch) || isLargeValue(before) || mayMultiply(body)) return patchedInSlices(request, original)
  try {
    const value = applyPatch(request, original)
    return decodePatched(request, { value, problems })
  } catch (error) {
    throw patchFailure(error)
  }
}

/** Up to this many copy operations, the result cannot grow much; each further operation can double it. */
const fewCopies = 4

function mayMultiply({ kind, value }: PatchBody): boolean {
  if (kind !== 'json' || !Array.isArray(value)) return false
  return value.filter((operation) => (operation as { readonly op?: unknown } | null)?.op === 'copy').length > fewCopies
}

async function patchedInSlices(request: PatchRequest, original: JsonValue): Promise<DecodedObject> {
  const { problems } = request.body
  try {
    const value = await runInLaterTurns(paced.applyPatch(request, original), request.scope.turns)
    await new Pace(request.scope.turns).next()
    return await decodePatched(request, { value, problems })
  } catch (error) {
    throw patchFailure(error)
  }
}

function patchFailure(error: unknown): unknown {
  if (!(error instanceof FieldManagerError)) return error
  switch (error.code) {
    case 'BadPatch':
    case 'Conflict':
      return ApiError.badRequest(error.message)
    case 'TooManyOperations':
      return ApiError.requestEntityTooLarge(error.message)
    case 'Unprocessable':
      return ApiError.generic(422, { serverMessage: error.message })
    default:
      return error
  }
}

/** The configuration of an apply. Returns a promise when the configuration is large. @throws ApiError 400, 413 */
export function appliedConfiguration(
  request: PatchRequest,
  { exists }: { readonly exists: boolean },
): AppliedConfiguration | Promise<AppliedConfiguration> {
  const { context, target, body } = request
  if (body.refusal !== undefined) throw body.refusal
  const { gvk } = target
  const value = body.value ?? {}
  if (typeof value !== 'object' || Array.isArray(value)) {
    const found = `cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value} into Go value of type map[string]interface {}`
    throw ApiError.badRequest(
      `${configurationPrefix(request.scope.features)}error unmarshaling JSON: while decoding JSON: json: ${found}`,
    )
  }
  const given = value as { apiVersion?: unknown; kind?: unknown; metadata?: { managedFields?: unknown } }
  if (given.metadata?.managedFields !== undefined && given.metadata.managedFields !== null) {
    throw ApiError.badRequest('metadata.managedFields must be nil')
  }
  if (given.apiVersion !== formatApiVersion(gvk) || given.kind !== gvk.kind) {
    throw ApiError.badRequest(`invalid object type: ${typeText(given)}`)
  }
  const { name } = context.info
  const metadata = value['metadata'] ?? {}
  const readable = typeof metadata === 'object' && !Array.isArray(metadata)
  const ownName = readable ? metadata['name'] : name
  // A configuration without a name takes the name of the object. A configuration with an empty or null name leaves the object without one.
  const isUnnamed = ownName === null || ownName === '' || (ownName === undefined && !exists)
  const named = isUnnamed || ownName === undefined ? withName(request, value, metadata) : value
  return whenDone(named, (configuration) => {
    // Without metadata in the configuration, the apply removes the metadata that the manager owned, including the name.
    const merged = value['metadata'] === undefined && exists ? value : configuration
    return checkedConfiguration(request, { named: configuration, merged, unnamed: isUnnamed })
  })
}

/** A promise where the value is large. */
function withName({ context, scope }: PatchRequest, value: JsonObject, metadata: JsonValue): JsonObject | Promise<JsonObject> {
  const named = withMembers(value, { metadata: { ...(metadata as JsonObject), name: context.info.name } })
  return isLargeValue(value) ? runInLaterTurns(named, scope.turns) : runAtOnce(named)
}

interface NamedConfiguration {
  /** With the name of the object. */
  readonly named: JsonObject
  /** The configuration that is merged into the live object. */
  readonly merged: JsonObject
  readonly unnamed: boolean
}

function checkedConfiguration(request: PatchRequest, { named, merged, unnamed: isUnnamed }: NamedConfiguration): Configuration {
  const { context, target, options, body } = request
  const { name } = context.info
  const warnings: string[] = []
  const warn = (problems: readonly string[]) => {
    if (options.fieldValidation === 'Warn') warnings.push(...problems)
  }
  const refusal = (problems: readonly string[]) => configurationFailure(target, problems)
  const readable = (unknown: readonly string[]) => {
    if (options.fieldValidation === 'Strict' && body.problems.length > 0)
      throw configurationFailure(target, [...body.problems, ...unknown])
    warn(body.problems)
  }
  return refusedLater({ sent: named as unknown as FrozenObject, warnings }, () =>
    whenDone(decodeChecked(request, { value: named, refusal, readable }), ({ object, problems }) => {
      // Without problems, the type defines every member, so none need be dropped.
      const known = options.fieldValidation !== 'Ignore' && problems.length === 0
      warn(problems)
      return whenDone(known ? merged : withKnownMembers(request, merged), (sent) => {
        // Conflicts are reported before the missing name.
        return { sent: sent as unknown as FrozenObject, object: isUnnamed ? unnamed(name) : object, unnamed: isUnnamed, warnings }
      })
    }),
  )
}

/** A promise where the value is large. */
function withKnownMembers({ scope, target }: PatchRequest, value: JsonValue): JsonValue | Promise<JsonValue> {
  const type = target.type()
  return isLargeValue(value) ? runInLaterTurns(pacedFields.knownMembers(type, value), scope.turns) : knownMembers(type, value)
}

type Configuration = AppliedConfiguration | Promise<AppliedConfiguration>

/** The configuration with the error in place of the decoded object, because conflicts are reported before the error. */
async function refusedLater(
  given: Pick<AppliedConfiguration, 'sent' | 'warnings'>,
  decoded: () => Configuration,
): Promise<AppliedConfiguration> {
  try {
    return await decoded()
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 400) throw error
    return { ...given, object: error }
  }
}

function unnamed(name: string): ApiError {
  return ApiError.badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
}

/**
 * The 400 for a configuration under `Strict`, with all repeated and unknown fields. Unknown fields are reported twice, in the form of
 * strict decoding and in that of field management, because clients parse either form.
 */
function configurationFailure({ gvk }: PatchTarget, problems: readonly string[]): ApiError {
  const paths = problems.flatMap((problem) => /^unknown field "(.*)"$/s.exec(problem)?.[1] ?? [])
  if (paths.length === 0) {
    const lines = problems.map((problem) => `\n  ${problem}`).join('')
    return ApiError.badRequest(`error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:${lines}`)
  }
  const each = paths.map((path) => `.${path}: field not declared in schema`)
  return ApiError.badRequest(`${strictFailure(gvk, problems, new Uint8Array(0)).message}: ${each.join(', ')}`)
}

/** `apps/v1, Kind=Deployment`, and `/v1, Kind=Pod` for the core group. */
function typeText({ apiVersion, kind }: { readonly apiVersion?: unknown; readonly kind?: unknown }): string {
  const version = typeof apiVersion === 'string' ? apiVersion : ''
  const slashes = version.split('/').length - 1
  // kube-apiserver prints empty names for a malformed version.
  if (slashes > 1) return '/, Kind='
  return `${slashes === 0 ? '/' : ''}${version}, Kind=${typeof kind === 'string' ? kind : ''}`
}

interface PatchResult {
  readonly value: JsonValue
  /** Problems of the patch itself. */
  readonly problems?: readonly string[]
  /** Builds the error for problems that fail the request. */
  readonly refusal?: (problems: readonly string[]) => ApiError
  /** Called with the unknown fields when all values match their types. */
  readonly readable?: (unknown: readonly string[]) => void
}

/** Decodes the result of a patch. Returns a promise when the result is large. */
function decodePatched(request: PatchRequest, result: PatchResult): DecodedObject | Promise<DecodedObject> {
  const missing = missingErrors(result.value, request.target.required)
  return whenDone(decodeChecked(request, result), ({ object }) => ({ object, missing }))
}

interface CheckedObject {
  readonly object: ApiObject
  readonly problems: readonly string[]
}

/** The decoded result with the problems that do not fail the request. */
function decodeChecked(request: PatchRequest, result: PatchResult): CheckedObject | Promise<CheckedObject> {
  const typed = patchedType(request, result.value)
  const type = isLargeValue(result.value) ? runInLaterTurns(typed, request.scope.turns) : runAtOnce(typed)
  return whenDone(type, (patched) => decodeTyped(request, result, patched))
}

function decodeTyped(
  request: PatchRequest,
  result: PatchResult,
  { value, unversioned, version, hasNoSchema = false }: PatchedType,
): CheckedObject | Promise<CheckedObject> {
  const { scope, target, options } = request
  const { objectBytes } = scope.limits
  const size = new DecodedSize(objectBytes)
  const type = version?.type() ?? target.type()
  const { problems = [] } = result
  const collect = options.fieldValidation !== 'Ignore' && !hasNoSchema
  // An object of the internal version has no name, so it is refused after its problems are reported.
  if (unversioned !== undefined) return checkDecoded(request, { decoded: nameless(collect ? unversioned : []), ...result })
  const sorts = request.body.kind === 'strategic'
  const applies = request.body.kind === 'apply'
  const sortsRaw = sorts || applies
  const keepEmpties = scope.definition.strategy.distinctEmpties
  const decoding = { problems: sorts ? [] : problems, collect, size, sortsRaw, keepEmpties, keepNulls: applies }
  const checked = ({ object, problems: own }: Decoded<ApiObject>) => {
    // Typed objects have no member order, so kube-apiserver sorts their problems.
    const all = sorts ? [...problems, ...own.toSorted()] : own
    const converted = version === undefined ? object : version.convert(object)
    return whenDone(converted, (own) => checkDecoded(request, { decoded: { object: own, problems: all }, ...result }))
  }
  if (isLargeValue(value)) {
    return runInLaterTurns(pacedSchema.decode<ApiObject>(type, value, decoding), scope.turns)
      .then(checked)
      .catch((error) => {
        throw decodeRefusal(error, objectBytes)
      })
  }
  try {
    return checked(decode<ApiObject>(type, value, decoding))
  } catch (error) {
    throw decodeRefusal(error, objectBytes)
  }
}

function nameless(problems: readonly string[]): Decoded<ApiObject> {
  return { object: { metadata: {} } as ApiObject, problems }
}

/** @throws ApiError 400 for problems of strict decoding, and for a name or namespace that differs from the path */
function checkDecoded(
  { context, target, options }: PatchRequest,
  { decoded: { object, problems }, refusal, readable }: PatchResult & { readonly decoded: Decoded<ApiObject> },
): CheckedObject {
  readable?.(problems)
  const { gvk, namespaced } = target
  const { fieldValidation } = options
  const { name, namespace } = context.info
  if (problems.length > 0 && fieldValidation === 'Strict')
    throw refusal?.(problems) ?? strictFailure(gvk, problems, new Uint8Array(0))
  // An apply sends its warnings after the merge, so it adds none here.
  if (refusal === undefined && fieldValidation === 'Warn') context.warnings.push(...problems)
  const { name: given = '', namespace: other = '' } = object.metadata ?? {}
  if (namespaced && other !== '' && other !== namespace) {
    throw ApiError.badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  if (given === '') throw unnamed(name)
  if (given !== name) throw ApiError.badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`)
  return { object, problems }
}
