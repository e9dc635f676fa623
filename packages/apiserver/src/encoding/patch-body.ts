import { Pace, runAtOnce, runInLaterTurns } from '@krmkit/base/work'
import { validateJsonPatch } from '@krmkit/fieldmanager/patch'
import { ApiError, type Features, type JsonValue } from '@krmkit/meta'
import { largeBodyBytes, objectTooLarge } from '@krmkit/registry'
import { DecodeError } from '@krmkit/schema'
import { duplicateProblems } from '@krmkit/schema/paced'
import { recordRequestObject } from '../audit/request-object.ts'
import type { ResponseWriter } from '../media/response-writer.ts'
import { header, type RequestContext } from '../request/context.ts'
import type { RequestScope } from '../request/scope.ts'
import { type ParsedText, parseLargeText, parseText, type TextEncoding } from './large-body.ts'
import { numberTexts, sentFloats } from './sent-floats.ts'

/** Bodies of PATCH requests. @see API protocol specification, 4 */

export interface PatchBody {
  readonly kind: 'merge' | 'json' | 'strategic' | 'apply'
  readonly value: JsonValue
  /** The operations with the texts that a JSON patch tests, where they differ from `value`. @see numberTexts */
  readonly tested?: JsonValue | undefined
  /** Problems of strict decoding: repeated fields, and malformed operations of a JSON patch. */
  readonly problems: readonly string[]
  /** The numbers that Go decodes as floats. @see sentFloats */
  readonly sent?: (() => unknown) | undefined
  /** The error for a malformed patch. It is reported only when the object to patch exists. */
  readonly refusal?: ApiError
}

/** The media type of apply configurations in CBOR, which depends on a feature gate. */
const cborPatch = 'application/apply-patch+cbor'

const patchTypes: Readonly<Record<string, PatchBody['kind']>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
  [cborPatch]: 'apply',
}

const all = Object.keys(patchTypes)

/**
 * Media types of the patches that resources accept, without and with CBOR. Custom resources have no merge keys, so they do not accept
 * strategic merge patches.
 */
const acceptedPatches = [false, true].map((cbor) => {
  const builtIn = all.filter((type) => cbor || type !== cborPatch)
  return { builtIn, custom: builtIn.filter((type) => patchTypes[type] !== 'strategic') }
})

/** Media types of the patches that built-in resources accept. */
export function builtInPatches({ cbor }: ResponseWriter): readonly string[] {
  return acceptedPatches[cbor === undefined ? 0 : 1]?.builtIn ?? []
}

/** @throws ApiError 415 for a media type that is not one of a patch. */
export function patchKind({ definition, responses }: RequestScope, { request }: RequestContext): PatchBody['kind'] {
  const [given = ''] = (header(request, 'content-type') ?? '').split(/(?<!^);/, 1)
  const accepted = acceptedPatches[responses.cbor === undefined ? 0 : 1]
  const types = (definition.custom === undefined ? accepted?.builtIn : accepted?.custom) ?? []
  const kind = types.includes(given) ? patchTypes[given] : undefined
  if (kind !== undefined) return kind
  throw ApiError.unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${types.join(', ')}`,
  )
}

/** Prefix of the errors of decoding an applied configuration. */
export function configurationPrefix({ release }: Pick<Features, 'release'>): string {
  return release.atLeast('1.37') ? 'error decoding patch: ' : 'error decoding YAML: '
}

/** Reads a patch. Malformed JSON, or YAML in an apply, gives a patch with `refusal`. @throws ApiError 413 */
export async function readPatch(
  scope: RequestScope,
  context: RequestContext,
  { kind, fieldValidation }: { readonly kind: PatchBody['kind']; readonly fieldValidation: string },
): Promise<PatchBody> {
  const bytes = await context.request.body(scope.limits.bodyBytes)
  context.span?.event('limitedReadBody succeeded', () => ({ len: bytes.byteLength }))
  try {
    if (kind === 'apply') {
      const encoding = header(context.request, 'content-type')?.startsWith(cborPatch) === true ? 'cbor' : 'yaml'
      const { value, problems = [] } = await parsePatch(scope, context, { bytes, encoding })
      recordRequestObject(context, value)
      return { kind, value: value as JsonValue, problems }
    }
    const parsed = await parsePatch(scope, context, { bytes, encoding: 'json' })
    const value = parsed.value as JsonValue
    recordRequestObject(context, value)
    const problems = duplicateProblems(parsed)
    const isLong = bytes.byteLength > largeBodyBytes
    const repeated = isLong ? await runInLaterTurns(problems, scope.turns) : runAtOnce(problems)
    if (kind !== 'json') return { kind, value, sent: await sentFloats(scope, { bytes, encoding: 'json' }), problems: repeated }
    const sent = await sentFloats(scope, { bytes, encoding: 'json-patch' })
    const texts = numberTexts(value, bytes)
    const tested = isLong ? await runInLaterTurns(texts, scope.turns) : runAtOnce(texts)
    return { kind, value, tested, sent, problems: operationProblems(value, repeated) }
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    if (error.code === 'TooLarge') throw objectTooLarge(scope.limits.objectBytes)
    const unaudited = scope.features.release.atLeast('1.37') ? unreadable(kind, error) : undefined
    if (unaudited !== undefined) throw ApiError.badRequest(unaudited)
    const refusal = ApiError.badRequest(malformed(kind, error.message, fieldValidation === 'Ignore'))
    return { kind, value: null, problems: [], refusal }
  }
}

/** The error message for a body that is not written as its kind: from 1.37 on it is refused before the object is read. */
function unreadable(kind: PatchBody['kind'], { code, message }: DecodeError): string | undefined {
  if (kind === 'apply') return `error encoding patch: ${message.replace(/^error converting YAML to JSON: /, '')}`
  return code === 'Syntax' || code === 'Depth' ? 'invalid JSON patch' : undefined
}

/**
 * The error message for a malformed patch. kube-apiserver reads merge patches and JSON patches twice, first for unknown and repeated
 * fields, unless field validation is `Ignore`; the message depends on the first read.
 */
function malformed(kind: PatchBody['kind'], problem: string, ignoresFields: boolean): string {
  if (kind === 'apply') return `error decoding YAML: ${problem}`
  if (kind === 'strategic') return problem
  const inOperation =
    kind === 'json' ? problem.replace('Go value of type float64', 'Go struct field jsonPatchOp.value of type float64') : problem
  if (!ignoresFields) return `error decoding patch: ${inOperation}`
  return kind === 'merge' ? 'Invalid JSON Patch' : problem
}

function parsePatch(
  scope: RequestScope,
  context: RequestContext,
  { bytes, encoding }: { readonly bytes: Uint8Array; readonly encoding: TextEncoding },
): ParsedText | Promise<ParsedText> {
  if (bytes.byteLength <= largeBodyBytes) return parseText({ bytes, encoding, literals: false }, scope.responses.cbor)
  const { signal } = context
  return parseLargeText(scope, { bytes, encoding, literals: false, signal }, new Pace(scope.turns))
}

/** Problems of the operations of a JSON patch, ordered by operation. */
function operationProblems(operations: JsonValue, repeated: readonly string[]): string[] {
  const problems = [...validateJsonPatch(operations), ...repeated.map((problem) => `json patch ${problem}`)]
  const operation = (problem: string) => Number(/"\[(\d+)\]/.exec(problem)?.[1] ?? 0)
  return problems.sort((a, b) => operation(a) - operation(b))
}
