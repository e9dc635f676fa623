import { validateJsonPatch } from '@krmkit/fieldmanager/patch'
import { ApiError, type JsonValue } from '@krmkit/meta'
import { Slices } from '@krmkit/meta/slices'
import { largeBodyBytes, objectTooLarge } from '@krmkit/registry'
import { DecodeError } from '@krmkit/schema'
import { duplicateProblems } from '@krmkit/schema/json'
import { recordRequestObject } from '../audit/request-object.ts'
import { header, type RequestContext } from '../request-context.ts'
import type { RequestScope } from '../request-scope.ts'
import { type ParsedText, parseLargeText, parseText } from './large-body.ts'

/** Bodies of PATCH requests. @see API protocol specification, 4 */

export interface PatchBody {
  readonly kind: 'merge' | 'json' | 'strategic' | 'apply'
  readonly value: JsonValue
  /** Problems of strict decoding: repeated fields, and malformed operations of a JSON patch. */
  readonly problems: readonly string[]
}

const patchTypes: Readonly<Record<string, PatchBody['kind']>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
}

/** Media types of the patches that resources take; those of custom resources have no merge keys. */
export const builtInPatches: readonly string[] = Object.keys(patchTypes)
const customPatches = builtInPatches.filter((type) => patchTypes[type] !== 'strategic')

/** @throws ApiError 415 for anything but the media types of patches. */
export function patchKind({ definition }: RequestScope, { request }: RequestContext): PatchBody['kind'] {
  const [given = ''] = (header(request, 'content-type') ?? '').split(/(?<!^);/, 1)
  const types = definition.custom === undefined ? builtInPatches : customPatches
  const kind = types.includes(given) ? patchTypes[given] : undefined
  if (kind !== undefined) return kind
  throw ApiError.unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${types.join(', ')}`,
  )
}

/** Prefixes of decoding errors. */
export const decodingPrefixes: Readonly<Record<PatchBody['kind'], string>> = {
  apply: 'error decoding YAML: ',
  json: 'error decoding patch: ',
  merge: '',
  strategic: '',
}

/** Reads the patch. @throws ApiError 400 for malformed JSON (or YAML, in an apply), 413. */
export async function readPatch(scope: RequestScope, context: RequestContext, kind: PatchBody['kind']): Promise<PatchBody> {
  const bytes = await context.request.body(scope.limits.bodyBytes)
  try {
    if (kind === 'apply') {
      const { value, problems = [] } = await parsePatch(scope, context, { bytes, encoding: 'yaml' })
      recordRequestObject(context, value)
      return { kind, value: value as JsonValue, problems }
    }
    const parsed = await parsePatch(scope, context, { bytes, encoding: 'json' })
    const value = parsed.value as JsonValue
    recordRequestObject(context, value)
    const repeated = duplicateProblems(parsed)
    return { kind, value, problems: kind === 'json' ? operationProblems(value, repeated) : repeated }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    if (error.code === 'TooLarge') throw objectTooLarge(scope.limits.objectBytes)
    throw ApiError.badRequest(`${decodingPrefixes[kind]}${error.message}`)
  }
}

function parsePatch(
  scope: RequestScope,
  { signal }: RequestContext,
  { bytes, encoding }: { readonly bytes: Uint8Array; readonly encoding: 'json' | 'yaml' },
): ParsedText | Promise<ParsedText> {
  if (bytes.byteLength <= largeBodyBytes) return parseText({ bytes, encoding, literals: false })
  return parseLargeText(scope, { bytes, encoding, literals: false, signal }, new Slices(scope.slices))
}

/** Problems of the operations of a JSON patch, ordered by operation. */
function operationProblems(operations: JsonValue, repeated: readonly string[]): string[] {
  const problems = [...validateJsonPatch(operations), ...repeated.map((problem) => `json patch ${problem}`)]
  const operation = (problem: string) => Number(/"\[(\d+)\]/.exec(problem)?.[1] ?? 0)
  return problems.sort((a, b) => operation(a) - operation(b))
}
