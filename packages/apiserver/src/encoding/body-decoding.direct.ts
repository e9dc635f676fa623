// Derived from body-decoding.ts by `npm run direct`: do not edit.
import { runAtOnce } from '@krmkit/base/work'
import { type Decoded, DecodeError, decode, decodeProtobuf, readEnvelope } from '@krmkit/schema'
import { readTypeMeta } from '@krmkit/schema/decode'
import type { BodyDecoding } from './body-decoding.ts'
import { checkCustomType, checkType } from './body-type.ts'
import { inKeyOrder } from './key-order.ts'
import type { ParsedText, TextEncoding } from './large-body.ts'

/** Decodes a body in protobuf. @throws DecodeError, ApiError */
export function decodeEnvelope(body: BodyDecoding): Decoded {
  const { scope, expected, bytes, size } = body
  if (expected.type().custom !== undefined)
    throw new DecodeError({ code: 'TypeMeta', message: 'objects of custom resources have no protobuf form' })
  const envelope = readEnvelope(bytes)
  // As on kube-apiserver, a malformed apiVersion counts as absent in protobuf; in JSON it is an error.
  const isVersion = envelope.apiVersion.split('/').length <= 2
  body.actual = runAtOnce(checkType(scope, expected, isVersion ? envelope : { kind: envelope.kind, apiVersion: '' }))
  return decodeProtobuf(expected.type(), envelope, { size })
}

/** Decodes a parsed body. @throws DecodeError, ApiError */
export function decodeText(body: BodyDecoding, { value, ...rest }: ParsedText, encoding: TextEncoding): Decoded {
  checkStatedType(body, { value, ...rest }, encoding)
  const { expected, scope, size } = body
  const { fieldValidation, keepEmpties } = expected
  const namesEmbedded = scope.features.release.atLeast('1.35')
  const options = { collect: fieldValidation !== 'Ignore', keepEmpties, namesEmbedded, ...rest }
  const isYaml = encoding === 'yaml'
  try {
    const decoded = decode(expected.type(), value, { size, ...options })
    body.findMissing(value)
    // Problems in YAML are reported in key order: with several problems, decode again in that order.
    if (!isYaml || decoded.problems.length <= 1) return decoded
  } catch (error) {
    // The error of the first key in key order is reported.
    if (!isYaml || !(error instanceof DecodeError) || error.code === 'TooLarge') throw error
  }
  return decode(expected.type(), runAtOnce(inKeyOrder(value)), options)
}

function checkStatedType(body: BodyDecoding, { value, ...rest }: ParsedText, encoding: TextEncoding): void {
  const { scope, expected, bytes, warn } = body
  const stated = readTypeMeta(value)
  const typed = { value, bytes, rest, warn }
  body.actual =
    expected.type().custom === undefined
      ? runAtOnce(checkType(scope, expected, stated, typed))
      : runAtOnce(checkCustomType(expected, stated, { encoding, ...typed }))
}
