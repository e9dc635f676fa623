import { memberNames } from '@krmkit/base/work'
import { goQuote } from '@krmkit/meta/go-text'
import { jsonTypeName } from '../json/parse-json.ts'
import { isParsedObject } from '../json/shape.ts'
import { decodeUtf8 } from '../json/utf8.ts'
import { DecodeError } from '../schema-error.ts'

/** Reads `kind` and `apiVersion` of a body, and formats the messages for bodies that cannot be decoded. */

export interface TypeMeta {
  /** Empty when the body has no such member. */
  readonly apiVersion: string
  readonly kind: string
}

const prefix = "couldn't get version/kind; json parse error: "
const goStruct = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

/**
 * Reads `apiVersion` and `kind` of a parsed body; both are empty for null.
 *
 * @throws DecodeError `TypeMeta` when the body is not an object, either is not a string, or `apiVersion` has two slashes.
 * @example
 * import { readTypeMeta } from '@krmkit/schema/decode'
 * readTypeMeta({ apiVersion: 'v1', kind: 'Pod', spec: {} }) // { apiVersion: 'v1', kind: 'Pod' }
 */
export function readTypeMeta(value: unknown): TypeMeta {
  if (value === null || value === undefined) return { apiVersion: '', kind: '' }
  if (!isParsedObject(value))
    throw new DecodeError({
      code: 'TypeMeta',
      message: `${prefix}json: cannot unmarshal ${jsonTypeName(value)} into Go value of type ${goStruct}`,
    })
  const read = (name: string) => {
    const member = Object.hasOwn(value, name) ? value[name] : undefined
    if (member === null || member === undefined) return ''
    if (typeof member === 'string') return member
    throw new DecodeError({
      code: 'TypeMeta',
      message: `${prefix}json: cannot unmarshal ${jsonTypeName(member)} into Go struct field .${name} of type string`,
    })
  }
  // The first invalid member in document order is reported. The scan runs only when both may be invalid: the object may be large.
  if (typeof value['apiVersion'] !== 'string' && typeof value['kind'] !== 'string') {
    for (const name of memberNames(value)) if (name === 'apiVersion' || name === 'kind') read(name)
  }
  const apiVersion = read('apiVersion')
  const kind = read('kind')
  if (apiVersion.split('/').length > 2)
    throw new DecodeError({ code: 'TypeMeta', message: `unexpected GroupVersion string: ${apiVersion}` })
  return { apiVersion, kind }
}

/**
 * Creates the error of a body without `kind` or `apiVersion` where the request does not determine the kind.
 *
 * @example
 * import { missingTypeMeta } from '@krmkit/schema/decode'
 * missingTypeMeta('Kind', '{"spec":{}}').message // `Object 'Kind' is missing in '{"spec":{}}'`
 * @see {@link readTypeMeta}
 */
export function missingTypeMeta(member: 'Kind' | 'apiVersion', body: string): DecodeError {
  return new DecodeError({ code: 'TypeMeta', message: `Object '${member}' is missing in '${body}'` })
}

/**
 * Creates the error of a body that is not JSON, reported before its kind is known.
 *
 * @example
 * import { DecodeError } from '@krmkit/schema'
 * import { unreadableTypeMeta } from '@krmkit/schema/decode'
 * const error = new DecodeError({ code: 'Syntax', message: 'unexpected end of JSON input' })
 * unreadableTypeMeta(error).message // "couldn't get version/kind; json parse error: unexpected end of JSON input"
 * @see {@link readTypeMeta}
 */
export function unreadableTypeMeta(error: DecodeError): DecodeError {
  return error.code === 'Syntax' || error.code === 'Depth'
    ? new DecodeError({ code: 'TypeMeta', message: prefix + error.message })
    : error
}

/**
 * Message of the 400 response for a body that cannot be decoded.
 *
 * @param about `actual`: kind and version from the body, or from the request where the body has none; absent when unreadable.
 * @example
 * import { decodeFailureMessage } from '@krmkit/schema/decode'
 * const body = new TextEncoder().encode('{"data":1}')
 * const actual = { kind: 'ConfigMap', version: 'v1' }
 * const message = decodeFailureMessage({ message: 'wrong type' }, { expectedKind: 'Secret', actual, body })
 * message // 'ConfigMap in version "v1" cannot be handled as a Secret: wrong type'
 */
export function decodeFailureMessage(
  error: { readonly message: string },
  about: {
    readonly expectedKind: string
    readonly actual?: { readonly kind: string; readonly version: string } | undefined
    readonly body: Uint8Array
  },
): string {
  const { expectedKind, actual, body } = about
  if (actual !== undefined && actual.kind !== '') {
    return `${actual.kind} in version ${goQuote(actual.version)} cannot be handled as a ${expectedKind}: ${error.message}`
  }
  return `the object provided is unrecognized (must be of type ${expectedKind}): ${error.message} (${summarizeBody(body)})`
}

/** First bytes of a body: as text when it looks like JSON, otherwise in hexadecimal. */
export function summarizeBody(body: Uint8Array, maxLength = 30): string {
  if (body.length === 0) return '<empty>'
  const head = body.subarray(0, maxLength)
  const more = body.length > maxLength ? ' ...' : ''
  if (body[0] === 0x7b) return `${decodeUtf8(head).valid ? decodeUtf8(head).text : new TextDecoder().decode(head)}${more}`
  return `${[...head].map((byte) => byte.toString(16).padStart(2, '0')).join('')}${more}`
}
