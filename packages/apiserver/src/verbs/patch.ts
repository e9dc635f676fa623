import {
  jsonPatch,
  jsonPatchSteps,
  mergePatch,
  mergePatchSteps,
  PatchError,
  strategicMergePatch,
  strategicMergePatchSteps,
  validateJsonPatch,
} from '@krmkit/fieldmanager'
import {
  ApiError,
  type ApiObject,
  type DeepReadonly,
  formatApiVersion,
  type GroupVersionKind,
  type JsonValue,
  runInSlices,
  Slices,
} from '@krmkit/meta'
import { applyToObject, type FrozenObject, isLarge, objectTooLarge, setManagedFields, updateObject } from '@krmkit/registry'
import { type Decoded, DecodedSize, DecodeError, decode, decodeSteps, duplicateProblems, type StructType } from '@krmkit/schema'
import { noteRequestObject } from '../audit/note-request.ts'
import { attributesOf, refuseUnlessAllowed } from '../filters/authorization.ts'
import type { ApiResponse } from '../interfaces.ts'
import { knownMembers } from '../known-members.ts'
import { largeBodyBytes, type ParsedText, parseLargeText, parseText } from '../large-body.ts'
import type { WriteOptions } from '../query.ts'
import { otherKind, strictFailure, withDefaults } from '../request-body.ts'
import { header } from '../request-state.ts'
import { negotiated, type ResourceRequest, requestedOptions, writeContext } from '../resource-handler.ts'
import { whenDone } from '../when-done.ts'
import { presentStored } from './write.ts'

/** What a patch is applied to: the object as the request's version shows it, or a Scale made from it. */
export interface PatchTarget {
  readonly gvk: GroupVersionKind
  readonly type: () => StructType
  readonly namespaced: boolean
}

export interface PatchBody {
  readonly kind: 'merge' | 'json' | 'strategic' | 'apply'
  readonly value: JsonValue
  /** Fields that the body repeats, as strict decoding tells them. */
  readonly problems: readonly string[]
}

const patchTypes: Readonly<Record<string, PatchBody['kind']>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
}

const customPatches =
  'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml'

/** @throws ApiError 415 for anything but the four media types of patches. */
export function patchKind({ state, definition }: ResourceRequest): PatchBody['kind'] {
  const given = (header(state.request, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  const kind = Object.hasOwn(patchTypes, given) ? patchTypes[given] : undefined
  const custom = definition.custom !== undefined
  if (custom && (kind === undefined || kind === 'strategic')) throw ApiError.unsupportedMediaType(customPatches)
  if (kind === undefined) throw ApiError.generic(415, { serverMessage: '415: Unsupported Media Type' })
  return kind
}

/** How refusals of unreadable patches begin. */
const decoding: Readonly<Record<PatchBody['kind'], string>> = {
  apply: 'error decoding YAML: ',
  json: 'error decoding patch: ',
  merge: '',
  strategic: '',
}

/** Reads the patch. @throws ApiError 400 for what is no JSON (or YAML, in an apply). */
export async function patchBody(request: ResourceRequest, kind: PatchBody['kind']): Promise<PatchBody> {
  const { machinery, state } = request
  const bytes = await state.request.body(machinery.limits.bodyBytes)
  try {
    if (kind === 'apply') {
      const { value, problems = [] } = await parsePatch(request, bytes, 'yaml')
      noteRequestObject(state, value)
      return { kind, value: value as JsonValue, problems }
    }
    const parsed = await parsePatch(request, bytes, 'json')
    const value = parsed.value as JsonValue
    noteRequestObject(state, value)
    const repeated = duplicateProblems(parsed)
    return { kind, value, problems: kind === 'json' ? operationProblems(value, repeated) : repeated }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    if (error.code === 'TooLarge') throw objectTooLarge(machinery.limits.objectBytes)
    throw ApiError.badRequest(`${decoding[kind]}${error.message}`)
  }
}

function parsePatch(
  { machinery, state: { signal } }: ResourceRequest,
  bytes: Uint8Array,
  encoding: 'json' | 'yaml',
): ParsedText | Promise<ParsedText> {
  if (bytes.byteLength <= largeBodyBytes) return parseText({ bytes, encoding, literals: false })
  return parseLargeText(machinery, { bytes, encoding, literals: false, signal }, new Slices(machinery.writer.slices))
}

/** What is wrong with the operations of a JSON patch, operation by operation. */
function operationProblems(operations: JsonValue, repeated: readonly string[]): string[] {
  const problems = [...validateJsonPatch(operations), ...repeated.map((problem) => `json patch ${problem}`)]
  const operation = (problem: string) => Number(/"\[(\d+)\]/.exec(problem)?.[1] ?? 0)
  return problems.sort((a, b) => operation(a) - operation(b))
}

/** PATCH of an object or of a sub-resource that has its kind; @see API protocol specification, 4 and 4.7. */
export async function patchResource(request: ResourceRequest): Promise<ApiResponse> {
  const { machinery, state, definition, view } = request
  const { namespace, name, subresource } = state.info
  const representation = negotiated(request, { transforms: ['Table', 'PartialObjectMetadata'] })
  const kind = patchKind(request)
  const options = requestedOptions(request, 'PatchOptions', kind === 'apply')
  const body = await patchBody(request, kind)
  const target: PatchTarget = { gvk: definition.kind, type: definition.kind.type, namespaced: definition.kind.namespaced }
  const context = writeContext(request, options)
  const warned = state.warnings.length
  const answer = await updateObject(machinery.writer, definition, context, {
    namespace,
    name,
    subresource,
    createMissing: kind === 'apply' && subresource === '',
    mayCreate: () => refuseUnlessAllowed(machinery.authorizer, { ...attributesOf(state), verb: 'create' }),
    owned: kind === 'apply',
    change(current) {
      // Each run decodes anew: its warnings replace those of the run before.
      state.warnings.length = warned
      const before = current === undefined ? undefined : view.present(current)
      const finish = (next: ApiObject) => view.toStorage(withDefaults(next, definition, machinery.writer.environment.profile))
      if (kind !== 'apply') return whenDone(patched(request, target, body, before as DeepReadonly<object>, options), finish)
      const given = appliedObject(request, target, body, { ...options, exists: before !== undefined })
      return whenDone(given, ({ sent, object }): FrozenObject | Promise<FrozenObject> => {
        const intent = { live: before, applied: sent, force: options.force === true, subresource }
        return whenDone(applyToObject(machinery.writer, definition, context, intent), ({ value, content, managedFields }) => {
          if (current !== undefined && content === 'live' && managedFields === before?.metadata.managedFields) return current
          return whenDone(content === 'applied' ? object : decodePatched(request, target, { value }, 'Ignore'), (next) => {
            setManagedFields(next, managedFields)
            if (current === undefined) refuseForeignUid(request, next)
            return finish(next)
          })
        })
      })
    },
  })
  return presentStored(request, answer.created ? 201 : 200, answer, representation)
}

/** Who names a uid means an object that exists; a new one would get another. @throws ApiError 409 */
function refuseForeignUid({ definition, state }: ResourceRequest, { metadata: { uid = '' } }: ApiObject): void {
  if (uid === '') return
  const problem = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
  throw ApiError.conflict({ group: definition.group, resource: definition.resource.name }, state.info.name, problem)
}

/** The object after a JSON, merge or strategic merge patch, decoded again; a promise where it is large. @throws ApiError 400, 413, 415, 422 */
export function patched(
  request: ResourceRequest,
  target: PatchTarget,
  body: PatchBody,
  before: DeepReadonly<object>,
  options: WriteOptions,
): ApiObject | Promise<ApiObject> {
  const original = before as JsonValue
  const { kind, value: patch, problems } = body
  if (isLarge(patch) || isLarge(before) || mayMultiply(body)) return patchedInSlices(request, target, body, original, options)
  try {
    const value =
      kind === 'json'
        ? jsonPatch(original, patch)
        : kind === 'merge'
          ? mergePatch(original, patch)
          : strategicMergePatch(target.type(), original, patch)
    return decodePatched(request, target, { value, problems }, options.fieldValidation)
  } catch (error) {
    throw patchFailure(error)
  }
}

/** Copies of what was copied grow without many operations. */
const fewCopies = 4

function mayMultiply({ kind, value }: PatchBody): boolean {
  if (kind !== 'json' || !Array.isArray(value)) return false
  return value.filter((operation) => (operation as { readonly op?: unknown } | null)?.op === 'copy').length > fewCopies
}

async function patchedInSlices(
  request: ResourceRequest,
  target: PatchTarget,
  { kind, value: patch, problems }: PatchBody,
  original: JsonValue,
  options: WriteOptions,
): Promise<ApiObject> {
  const slices = new Slices(request.machinery.writer.slices)
  try {
    const value = await runInSlices(patchSteps(target, kind, original, patch), slices)
    await slices.next()
    return await decodePatched(request, target, { value, problems }, options.fieldValidation)
  } catch (error) {
    throw patchFailure(error)
  }
}

function patchSteps(
  target: PatchTarget,
  kind: PatchBody['kind'],
  original: JsonValue,
  patch: JsonValue,
): Generator<void, JsonValue> {
  if (kind === 'json') return jsonPatchSteps(original, patch)
  return kind === 'merge' ? mergePatchSteps(original, patch) : strategicMergePatchSteps(target.type(), original, patch)
}

function patchFailure(error: unknown): unknown {
  if (!(error instanceof PatchError)) return error
  if (error.code === 'TooManyOperations') return ApiError.requestEntityTooLarge(error.message)
  if (error.code === 'Unprocessable') return ApiError.generic(422, { serverMessage: error.message })
  return ApiError.badRequest(error.message)
}

/** The body of an apply. */
export interface AppliedObject {
  /** As it was sent, without members that the type does not know. */
  readonly sent: FrozenObject
  /** The same decoded. */
  readonly object: ApiObject
}

/** The body of an apply as an object of the target; a promise where it is large. @throws ApiError 400, 413 */
export function appliedObject(
  request: ResourceRequest,
  target: PatchTarget,
  body: PatchBody,
  options: Pick<WriteOptions, 'fieldValidation'> & { readonly exists: boolean },
): AppliedObject | Promise<AppliedObject> {
  const { gvk } = target
  const value = body.value ?? {}
  if (typeof value !== 'object' || Array.isArray(value)) {
    const found = `cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value} into Go value of type map[string]interface {}`
    throw ApiError.badRequest(`${decoding.apply}error unmarshaling JSON: while decoding JSON: json: ${found}`)
  }
  const given = value as { apiVersion?: unknown; kind?: unknown; metadata?: { managedFields?: unknown } }
  if (given.metadata?.managedFields !== undefined && given.metadata.managedFields !== null) {
    throw ApiError.badRequest('metadata.managedFields must be nil')
  }
  if (given.apiVersion !== formatApiVersion(gvk) || given.kind !== gvk.kind) {
    throw ApiError.badRequest(`invalid object type: ${typeText(given)}`)
  }
  const { name } = request.state.info
  const metadata = value['metadata'] ?? {}
  const readable = typeof metadata === 'object' && !Array.isArray(metadata)
  const unnamed = readable && (metadata['name'] ?? '') === ''
  if (unnamed && !options.exists)
    throw ApiError.badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  // The path names an object that exists where the configuration does not.
  const named = unnamed ? { ...value, metadata: { ...metadata, name } } : value
  if (body.problems.length > 0 && options.fieldValidation === 'Strict') {
    const lines = body.problems.map((problem) => `\n  ${problem}`).join('')
    throw ApiError.badRequest(`error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:${lines}`)
  }
  const refusal = (problems: readonly string[]) => undeclared(target, problems)
  const decoded = decodeChecked(request, target, { ...body, value: named, refusal }, options.fieldValidation)
  return whenDone(decoded, ({ object, problems }) => {
    // Where nothing is objected to, the type knows all members.
    const known = options.fieldValidation !== 'Ignore' && problems.length === 0
    return { sent: (known ? named : knownMembers(target.type(), named)) as unknown as FrozenObject, object }
  })
}

/** Told twice: as strict decoding does, and as field management does, for there are clients that know either. */
function undeclared({ gvk }: PatchTarget, problems: readonly string[]): ApiError {
  const strict = strictFailure(gvk, problems, new Uint8Array(0))
  const paths = problems.flatMap((problem) => /^unknown field "(.*)"$/s.exec(problem)?.[1] ?? [])
  if (paths.length === 0) return strict
  const each = paths.map((path) => `.${path}: field not declared in schema`)
  return ApiError.badRequest(`${strict.message}: ${each.join(', ')}`)
}

/** `apps/v1, Kind=Deployment`, and `/v1, Kind=Pod` for the group without a name. */
function typeText({ apiVersion, kind }: { readonly apiVersion?: unknown; readonly kind?: unknown }): string {
  const version = typeof apiVersion === 'string' ? apiVersion : ''
  const slashes = version.split('/').length - 1
  // What is no version leaves nothing to tell.
  if (slashes > 1) return '/, Kind='
  return `${slashes === 0 ? '/' : ''}${version}, Kind=${typeof kind === 'string' ? kind : ''}`
}

interface PatchResult {
  readonly value: JsonValue
  /** What the patch repeats. */
  readonly problems?: readonly string[]
  /** How problems are told that end the request. */
  readonly refusal?: (problems: readonly string[]) => ApiError
}

/** Decodes what a patch made; what the patch repeats counts among its problems. A promise where it is large. */
function decodePatched(
  request: ResourceRequest,
  target: PatchTarget,
  result: PatchResult,
  fieldValidation: WriteOptions['fieldValidation'],
): ApiObject | Promise<ApiObject> {
  return whenDone(decodeChecked(request, target, result, fieldValidation), ({ object }) => object)
}

interface CheckedObject {
  readonly object: ApiObject
  readonly problems: readonly string[]
}

/** The same, with the problems that do not end the request. */
function decodeChecked(
  request: ResourceRequest,
  target: PatchTarget,
  result: PatchResult,
  fieldValidation: WriteOptions['fieldValidation'],
): CheckedObject | Promise<CheckedObject> {
  const { limits, writer } = request.machinery
  const { value, problems = [] } = result
  const type = target.type()
  refuseOtherType(request, target, value)
  const size = new DecodedSize(limits.objectBytes)
  const decoding = { problems, collect: fieldValidation !== 'Ignore', size }
  const checked = (decoded: Decoded<ApiObject>) => checkDecoded(request, target, { ...result, decoded }, fieldValidation)
  const refused = (error: unknown): unknown => {
    if (!(error instanceof DecodeError)) return error
    return error.code === 'TooLarge' ? objectTooLarge(limits.objectBytes) : ApiError.badRequest(error.message)
  }
  if (isLarge(value)) {
    return runInSlices(decodeSteps<ApiObject>(type, value, decoding), new Slices(writer.slices))
      .then(checked)
      .catch((error) => {
        throw refused(error)
      })
  }
  try {
    return checked(decode<ApiObject>(type, value, decoding))
  } catch (error) {
    throw refused(error)
  }
}

/** @throws ApiError 400, 422 for a patch that makes another kind of object */
function refuseOtherType({ state }: ResourceRequest, { gvk, type }: PatchTarget, value: JsonValue): void {
  const { name } = state.info
  const { kind: nextKind, apiVersion: nextVersion } = (value ?? {}) as { kind?: unknown; apiVersion?: unknown }
  if (
    type().custom !== undefined &&
    nextVersion === formatApiVersion(gvk) &&
    typeof nextKind === 'string' &&
    nextKind !== '' &&
    nextKind !== gvk.kind
  ) {
    throw otherKind(gvk, nextKind, name)
  }
  if (nextKind !== gvk.kind || nextVersion !== formatApiVersion(gvk)) {
    throw ApiError.badRequest(`the patch changes the type of the object, which is ${formatApiVersion(gvk)}, Kind=${gvk.kind}`)
  }
}

/** @throws ApiError 400 for what strict decoding objects to, and for another name or namespace */
function checkDecoded(
  { state }: ResourceRequest,
  { gvk, namespaced }: PatchTarget,
  { decoded: { object, problems }, refusal }: PatchResult & { readonly decoded: Decoded<ApiObject> },
  fieldValidation: WriteOptions['fieldValidation'],
): CheckedObject {
  const { name, namespace } = state.info
  if (problems.length > 0 && fieldValidation === 'Strict')
    throw refusal?.(problems) ?? strictFailure(gvk, problems, new Uint8Array(0))
  if (problems.length > 0 && fieldValidation === 'Warn') state.warnings.push(...problems)
  const given = object.metadata?.name ?? ''
  if (given !== name) throw ApiError.badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`)
  const other = object.metadata.namespace ?? ''
  if (namespaced && other !== '' && other !== namespace) {
    throw ApiError.badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  return { object, problems }
}
