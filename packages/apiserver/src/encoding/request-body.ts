import { Pace, runPaced } from '@krmkit/base/work'
import { ApiError, type ApiObject, type FieldError, formatApiVersion } from '@krmkit/meta'
import { largeBodyBytes } from '@krmkit/registry'
import { type Decoded, type DecodedSize, DecodeError } from '@krmkit/schema'
import type { CborCodec } from '@krmkit/schema/cbor'
import { dropEmpties, unreadableTypeMeta } from '@krmkit/schema/decode'
import { recordRequestObject } from '../audit/request-object.ts'
import { mediaType } from '../media/negotiation.ts'
import type { ResponseWriter } from '../media/response-writer.ts'
import { header, type RequestContext } from '../request/context.ts'
import type { ServerScope } from '../request/scope.ts'
import * as direct from './body-decoding.direct.ts'
import { BodyDecoding, decodeEnvelope, decodeText, unstoredBytes } from './body-decoding.ts'
import { type Expected, strictFailure } from './body-type.ts'
import { type ParsedText, parseLargeText, parseText, type TextEncoding } from './large-body.ts'

export type BodyEncoding = TextEncoding | 'protobuf'

/** @throws ApiError 415 for an unsupported media type. */
export function bodyEncoding({ request }: RequestContext, { vendor, cbor }: ResponseWriter): BodyEncoding {
  const text = header(request, 'content-type') ?? ''
  const given = text === '' ? 'application/json' : parseMediaType(text)
  if (given === 'application/json') return 'json'
  if (given === 'application/yaml') return 'yaml'
  if (given === mediaType('protobuf', vendor)) return 'protobuf'
  if (given === 'application/cbor' && cbor !== undefined) return 'cbor'
  const accepted = [
    'application/json',
    'application/yaml',
    mediaType('protobuf', vendor),
    ...(cbor === undefined ? [] : ['application/cbor']),
  ]
  throw ApiError.unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  )
}

/** The media type in lower case; undefined when the header or one of its parameters is malformed. */
function parseMediaType(text: string): string | undefined {
  const parts = /^([^;]*)((?:;.*)?)$/s.exec(text)
  const type = parts?.[1]?.trim().toLowerCase() ?? ''
  if (!/^[!#$%&'*+.^_`|~\w-]+(\/[!#$%&'*+.^_`|~\w-]+)?$/.test(type)) return undefined
  const names = new Set<string>()
  let rest = (parts?.[2] ?? '').trim()
  while (rest !== '' && rest !== ';') {
    const parameter = /^;\s*([!#$%&'*+.^_`|~\w-]+)\s*=\s*(?:[!#$%&'*+.^_`|~\w-]+|"(?:[^"\\]|\\.)*")\s*/.exec(rest)
    const name = parameter?.[1]?.toLowerCase()
    if (parameter === null || name === undefined || names.has(name)) return undefined
    names.add(name)
    rest = rest.slice(parameter[0].length)
  }
  return type
}

/** A decoded body and its size. */
export interface SizedObject {
  readonly object: ApiObject
  readonly size: DecodedSize
  /** The required members that the body lacks. */
  readonly missing: readonly FieldError[]
}

/** Reads the body as an object of the expected kind. */
export async function readObject(scope: ServerScope, context: RequestContext, expected: Expected): Promise<ApiObject> {
  const encoding = bodyEncoding(context, scope.responses)
  const bytes = await readBytes(scope, context, expected)
  return (await decodeObject(scope, context, expected, { bytes, encoding })).object
}

/** @throws ApiError 413 */
export function readBytes(
  { limits }: ServerScope,
  { request }: RequestContext,
  { unstored }: Pick<Expected, 'unstored'>,
): Promise<Uint8Array> {
  return request.body(unstored === true ? Math.min(unstoredBytes, limits.bodyBytes) : limits.bodyBytes)
}

export interface Body {
  readonly bytes: Uint8Array
  readonly encoding: BodyEncoding
}

/**
 * Decodes a body. Unknown and duplicate fields become warnings or an error, by `fieldValidation`.
 *
 * @returns a promise for a large body, which is decoded in slices.
 * @throws ApiError 400 with the problem and its field, 413.
 * @see API protocol specification, 4.6
 */
export function decodeObject(
  scope: ServerScope,
  context: RequestContext,
  expected: Expected,
  body: Body,
): SizedObject | Promise<SizedObject> {
  const decoding = new BodyDecoding(scope, expected, body.bytes, (problems) => context.warnings.push(...problems))
  if (body.bytes.byteLength > largeBodyBytes) return decodeLarge(decoding, context, body)
  const { bytes, encoding } = body
  return finish(
    context,
    decoding,
    decoding.guarded(() =>
      encoding === 'protobuf'
        ? direct.decodeEnvelope(decoding)
        : direct.decodeText(decoding, parseBody(bytes, encoding, scope.responses.cbor), encoding),
    ),
  )
}

async function decodeLarge(decoding: BodyDecoding, context: RequestContext, { bytes, encoding }: Body): Promise<SizedObject> {
  const { scope } = decoding
  const pace = new Pace(scope.turns)
  await pace.next()
  try {
    if (encoding === 'protobuf') {
      const decoded = await runPaced(decodeEnvelope(decoding), pace)
      await pace.next()
      return finish(context, decoding, decoded)
    }
    const parsed = await parseLargeText(scope, { bytes, encoding, literals: true, signal: context.signal }, pace).catch(
      (error: unknown) => {
        throw unreadable(error, encoding)
      },
    )
    const decoded = await runPaced(decodeText(decoding, parsed, encoding), pace)
    await pace.next()
    return finish(context, decoding, decoded)
  } catch (error) {
    throw decoding.refusal(error)
  }
}

function finish(
  context: RequestContext,
  { expected, bytes, actual, size, missing }: BodyDecoding,
  { object, problems: found }: Decoded,
): SizedObject {
  const { gvk, fieldValidation } = expected
  // Problems of a body of another kind were reported when its kind was checked.
  const problems = actual !== undefined && expected.onOtherKind !== undefined && actual.kind !== gvk.kind ? [] : found
  if (problems.length > 0 && fieldValidation === 'Strict') throw strictFailure(gvk, problems, bytes, actual)
  if (problems.length > 0 && fieldValidation === 'Warn') context.warnings.push(...problems)
  const decoded = object as ApiObject
  decoded.apiVersion = formatApiVersion(gvk)
  decoded.kind = gvk.kind
  if (context.auditLevel !== 'None') {
    const { keepEmpties } = expected
    recordRequestObject(context, keepEmpties === undefined ? decoded : dropEmpties(expected.type(), decoded, keepEmpties))
  }
  return { object: decoded, size, missing }
}

function parseBody(bytes: Uint8Array, encoding: TextEncoding, cbor: CborCodec | undefined): ParsedText {
  try {
    return parseText({ bytes, encoding, literals: true }, cbor)
  } catch (error) {
    throw unreadable(error, encoding)
  }
}

/** The error for a body that cannot be parsed. */
function unreadable(error: unknown, encoding: TextEncoding): unknown {
  if (!(error instanceof DecodeError) || error.code === 'TooLarge') return error
  if (encoding === 'json') return unreadableTypeMeta(error)
  if (encoding === 'cbor')
    return new DecodeError({ code: 'TypeMeta', message: `unable to determine group/version/kind: ${error.message}` })
  // Errors of a YAML body lack the prefix that errors of an apply configuration have.
  return new DecodeError({ code: error.code, message: error.message.replace(/^error converting YAML to JSON: /, '') })
}
