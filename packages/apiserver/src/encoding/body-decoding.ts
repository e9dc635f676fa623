import type { Work } from '@krmkit/base/work'
import { missingErrors } from '@krmkit/kinds/strategies'
import { ApiError, type FieldError } from '@krmkit/meta'
import { objectTooLarge } from '@krmkit/registry'
import { type Decoded, DecodedSize, DecodeError, readEnvelope } from '@krmkit/schema'
import { decodeFailureMessage, readTypeMeta } from '@krmkit/schema/decode'
import { decode, decodeProtobuf } from '@krmkit/schema/paced'
import type { ServerScope } from '../request/scope.ts'
import { type Actual, checkCustomType, checkType, type Expected } from './body-type.ts'
import { inKeyOrder } from './key-order.ts'
import type { ParsedText, TextEncoding } from './large-body.ts'

/** Limit of bodies that are not stored: reviews, TokenRequest, Eviction, Binding, Scale, DeleteOptions. */
export const unstoredBytes = 256 * 1024

/** The decoding of one body. */
export class BodyDecoding {
  readonly scope: ServerScope
  readonly expected: Expected
  readonly bytes: Uint8Array
  readonly size: DecodedSize
  readonly warn: (problems: readonly string[]) => void
  /** Kind and version in the body; undefined until they are read. */
  actual: Actual | undefined
  missing: readonly FieldError[] = []

  constructor(scope: ServerScope, expected: Expected, bytes: Uint8Array, warn: (problems: readonly string[]) => void) {
    this.warn = warn
    this.scope = scope
    this.expected = expected
    this.bytes = bytes
    this.size = new DecodedSize(expected.unstored === true ? unstoredBytes : scope.limits.objectBytes)
  }

  guarded<V>(run: () => V): V {
    try {
      return run()
    } catch (error) {
      throw this.refusal(error)
    }
  }

  findMissing(value: unknown): void {
    this.missing = missingErrors(value, this.expected.required)
  }

  /** Converts an error of decoding to the error for the client. */
  refusal(error: unknown): unknown {
    if (!(error instanceof DecodeError)) return error
    if (error.code === 'TooLarge') return tooLarge(this.size, this.expected.unstored)
    const { expected, actual, bytes } = this
    if (expected.isMeta === true) return ApiError.badRequest(error.message)
    return ApiError.badRequest(decodeFailureMessage(error, { expectedKind: expected.gvk.kind, actual, body: bytes }))
  }
}

/** @param unstored the object is never stored. */
function tooLarge({ maxBytes }: DecodedSize, unstored = false): ApiError {
  return unstored ? ApiError.requestEntityTooLarge(`limit is ${maxBytes}`) : objectTooLarge(maxBytes)
}

/** Decodes a body in protobuf. @throws DecodeError, ApiError */
export function* decodeEnvelope(body: BodyDecoding): Work<Decoded> {
  const { scope, expected, bytes, size } = body
  if (expected.type().custom !== undefined)
    throw new DecodeError({ code: 'TypeMeta', message: 'objects of custom resources have no protobuf form' })
  const envelope = readEnvelope(bytes)
  // As on kube-apiserver, a malformed apiVersion counts as absent in protobuf; in JSON it is an error.
  const isVersion = envelope.apiVersion.split('/').length <= 2
  body.actual = yield* checkType(scope, expected, isVersion ? envelope : { kind: envelope.kind, apiVersion: '' })
  return yield* decodeProtobuf(expected.type(), envelope, { size })
}

/** Decodes a parsed body. @throws DecodeError, ApiError */
export function* decodeText(body: BodyDecoding, { value, ...rest }: ParsedText, encoding: TextEncoding): Work<Decoded> {
  yield* checkStatedType(body, { value, ...rest }, encoding)
  const { expected, scope, size } = body
  const { fieldValidation, keepEmpties } = expected
  const namesEmbedded = scope.features.release.atLeast('1.35')
  const options = { collect: fieldValidation !== 'Ignore', keepEmpties, namesEmbedded, ...rest }
  const isYaml = encoding === 'yaml'
  try {
    const decoded = yield* decode(expected.type(), value, { size, ...options })
    body.findMissing(value)
    // Problems in YAML are reported in key order: with several problems, decode again in that order.
    if (!isYaml || decoded.problems.length <= 1) return decoded
  } catch (error) {
    // The error of the first key in key order is reported.
    if (!isYaml || !(error instanceof DecodeError) || error.code === 'TooLarge') throw error
  }
  return yield* decode(expected.type(), yield* inKeyOrder(value), options)
}

function* checkStatedType(body: BodyDecoding, { value, ...rest }: ParsedText, encoding: TextEncoding): Work {
  const { scope, expected, bytes, warn } = body
  const stated = readTypeMeta(value)
  const typed = { value, bytes, rest, warn }
  body.actual =
    expected.type().custom === undefined
      ? yield* checkType(scope, expected, stated, typed)
      : yield* checkCustomType(expected, stated, { encoding, ...typed })
}
