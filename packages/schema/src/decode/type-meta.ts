import { goQuote } from '@krmkit/meta'
import { DecodeError } from '../errors.ts'
import { jsonTypeName } from '../json/parse-json.ts'
import { decodeUtf8 } from '../json/utf8.ts'
import { isObject } from './shape.ts'

/** What a body says it is, and what clients are told about bodies that cannot be read. */

export interface TypeMeta {
  /** Empty when the body does not say. */
  readonly apiVersion: string
  readonly kind: string
}

const prefix = "couldn't get version/kind; json parse error: "
const goStruct = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

/**
 * Reads `apiVersion` and `kind` of a parsed body; null has neither.
 *
 * @throws DecodeError `TypeMeta` when the body is no object, or they are no strings, or `apiVersion` has two slashes.
 */
export function readTypeMeta(value: unknown): TypeMeta {
  if (value === null || value === undefined) return { apiVersion: '', kind: '' }
  if (!isObject(value))
    throw new DecodeError('TypeMeta', `${prefix}json: cannot unmarshal ${jsonTypeName(value)} into Go value of type ${goStruct}`)
  const read = (name: string) => {
    const member = Object.hasOwn(value, name) ? value[name] : undefined
    if (member === null || member === undefined) return ''
    if (typeof member === 'string') return member
    throw new DecodeError(
      'TypeMeta',
      `${prefix}json: cannot unmarshal ${jsonTypeName(member)} into Go struct field .${name} of type string`,
    )
  }
  // The first wrong one of the document is reported. The order is not looked up otherwise: there may be many members.
  if (typeof value['apiVersion'] !== 'string' && typeof value['kind'] !== 'string') {
    for (const name in value) if (name === 'apiVersion' || name === 'kind') read(name)
  }
  const apiVersion = read('apiVersion')
  if (apiVersion.split('/').length > 2) throw new DecodeError('TypeMeta', `unexpected GroupVersion string: ${apiVersion}`)
  return { apiVersion, kind: read('kind') }
}

/** For kinds that nothing but the body can name. */
export function missingTypeMeta(member: 'Kind' | 'apiVersion', body: string): DecodeError {
  return new DecodeError('TypeMeta', `Object '${member}' is missing in '${body}'`)
}

/** The error of a body that is no JSON, as it is told before its kind is known. */
export function unreadableTypeMeta(error: DecodeError): DecodeError {
  return error.code === 'Syntax' || error.code === 'Depth' ? new DecodeError('TypeMeta', prefix + error.message) : error
}

/**
 * The message of the 400 for a body that cannot be decoded.
 *
 * `actual` is what the body says it is, or what the request supplies where it says nothing; absent when that could not be read.
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

/** The beginning of a body: as text when it looks like JSON, otherwise in hexadecimal. */
export function summarizeBody(body: Uint8Array, maxLength = 30): string {
  if (body.length === 0) return '<empty>'
  const head = body.subarray(0, maxLength)
  const more = body.length > maxLength ? ' ...' : ''
  if (body[0] === 0x7b) return `${decodeUtf8(head).valid ? decodeUtf8(head).text : new TextDecoder().decode(head)}${more}`
  return `${[...head].map((byte) => byte.toString(16).padStart(2, '0')).join('')}${more}`
}
