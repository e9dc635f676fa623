import { startWork, type Turns, type Work } from '@krmkit/base/work'
import { FieldManagerError } from '@krmkit/fieldmanager'
import { equalValues, jsonPatch } from '@krmkit/fieldmanager/paced'
import { ApiError, type ApiObject, type JsonValue } from '@krmkit/meta'
import { DecodeError } from '@krmkit/schema'
import { parseJson } from '@krmkit/schema/paced'
import type { AdmissionContext, ConvertedObject, ObjectVersion } from '../interfaces.ts'
import type { WebhookCall } from './dispatcher.ts'
import type { MutationAnnotator } from './mutation-annotator.ts'
import { checkPatchedKind } from './patched-kind.ts'
import type { AdmissionResponse } from './response.ts'
import { WebhookError } from './webhook-error.ts'

/**
 * Applies the patch of a mutating webhook, in slices where it is large.
 *
 * @returns the patched object; undefined when the patch changes nothing.
 * @throws ApiError 500 for an invalid patch; WebhookError for an unsupported patch type.
 */
export async function applyWebhookPatch(
  { invocation: { hook, version }, versioned, attributes, context }: WebhookCall,
  { patch, patchType }: AdmissionResponse,
  { annotator, turns }: { readonly annotator: Pick<MutationAnnotator, 'patched'>; readonly turns: Turns },
): Promise<ApiObject | undefined> {
  if (patch === undefined) return undefined
  const run = <T>(work: Work<T>) => startWork(work, turns)
  const operations = await run(readOperations(patch))
  if (operations.length === 0) return undefined
  if (versioned.object === null) {
    throw ApiError.internalError(
      `admission webhook ${JSON.stringify(hook.name)} attempted to modify the object, which is not supported for this operation`,
    )
  }
  if (patchType !== 'JSONPatch') {
    throw new WebhookError({ code: 'Invalid', message: `unsupported patch type ${JSON.stringify(patchType)}`, httpCode: 400 })
  }
  const before = versioned.object as unknown as JsonValue
  const { resource, kind } = attributes
  const next = await convert(await run(patched(before, operations)), { version, request: { resource, kind } }, context)
  await run(annotator.patched(operations))
  return (await run(equalValues(before, next.versioned as unknown as JsonValue))) ? undefined : next.object
}

function* readOperations(patch: JsonValue | Uint8Array): Work<JsonValue[]> {
  let value: JsonValue
  try {
    value = patch instanceof Uint8Array ? ((yield* parseJson(patch, {})).value as JsonValue) : patch
  } catch (error) {
    if (error instanceof DecodeError) throw ApiError.internalError(error.message)
    throw error
  }
  if (value === null) return []
  if (Array.isArray(value)) return value
  const kind = typeof value === 'boolean' ? 'bool' : typeof value
  throw ApiError.internalError(`json: cannot unmarshal ${kind} into Go value of type jsonpatch.Patch`)
}

function* patched(before: JsonValue, operations: JsonValue[]): Work<JsonValue> {
  try {
    return yield* jsonPatch(before, operations)
  } catch (error) {
    if (error instanceof FieldManagerError) throw ApiError.internalError(error.message.replace(/^error decoding patch: /, ''))
    throw error
  }
}

async function convert(
  value: JsonValue,
  { version, request }: { readonly version: ObjectVersion; readonly request: ObjectVersion },
  { versionConverter }: AdmissionContext,
): Promise<ConvertedObject> {
  checkPatchedKind(value, version, versionConverter)
  if (versionConverter === undefined) {
    return { object: value as unknown as ApiObject, versioned: value as unknown as ApiObject }
  }
  try {
    return await versionConverter.fromVersion(value, version, request)
  } catch (error) {
    if (error instanceof DecodeError) throw ApiError.internalError(error.message)
    throw error
  }
}
