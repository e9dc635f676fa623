import { startWork, type Turns, type Work } from '@krmkit/base/work'
import { FieldManagerError } from '@krmkit/fieldmanager'
import { equalValues, jsonPatch } from '@krmkit/fieldmanager/paced'
import { ApiError, type ApiObject, type JsonValue } from '@krmkit/meta'
import { DecodeError } from '@krmkit/schema'
import { parseJson } from '@krmkit/schema/paced'
import type { AdmissionContext, ConvertedObject, ObjectVersion } from '../interfaces.ts'
import type { WebhookCall } from './dispatcher.ts'
import type { MutationAnnotator } from './mutation-annotator.ts'
import type { WebhookOptions } from './options.ts'
import { checkPatchedKind } from './patched-kind.ts'
import type { AdmissionResponse } from './response.ts'
import { WebhookError } from './webhook-error.ts'

/**
 * Applies the patch of a mutating webhook, in slices where it is large.
 *
 * @returns the patched object; undefined when the patch changes nothing.
 * @throws ApiError 500 for an invalid patch; WebhookError for an unsupported patch type, and from 1.34 on for what is no patch.
 */
export async function applyWebhookPatch(
  { invocation: { hook, version }, versioned, attributes, context }: WebhookCall,
  { patch, patchType }: AdmissionResponse,
  { annotator, features, turns }: PatchOptions,
): Promise<ApiObject | undefined> {
  if (patch === undefined) return undefined
  const run = <T>(work: Work<T>) => startWork(work, turns)
  const refuse = features?.release.atLeast('1.34') === true ? undecodable : ApiError.internalError
  const operations = await run(readOperations(patch, refuse))
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

interface PatchOptions extends Pick<WebhookOptions, 'features'> {
  readonly annotator: Pick<MutationAnnotator, 'patched'>
  readonly turns: Turns
}

/** The failure policy applies to it. */
function undecodable(problem: string): WebhookError {
  const message = `received undecodable patch in webhook response: ${problem}`
  return new WebhookError({ code: 'Unreadable', message, httpCode: 503 })
}

function* readOperations(patch: JsonValue | Uint8Array, refuse: (problem: string) => Error): Work<JsonValue[]> {
  let value: JsonValue
  try {
    value = patch instanceof Uint8Array ? ((yield* parseJson(patch, {})).value as JsonValue) : patch
  } catch (error) {
    if (error instanceof DecodeError) throw refuse(error.message)
    throw error
  }
  if (value === null) return []
  if (Array.isArray(value)) return value
  const kind = typeof value === 'boolean' ? 'bool' : typeof value
  throw refuse(`json: cannot unmarshal ${kind} into Go value of type jsonpatch.Patch`)
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
