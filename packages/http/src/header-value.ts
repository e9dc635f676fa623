import { latin1Bytes, latin1Text, utf8Bytes, utf8Text } from '@krmkit/base/bytes'

/** Node represents header bytes as latin1 characters; clients and handlers use UTF-8. */

const beyondAscii = /[\u0080-\uffff]/
/** Printable ASCII without surrounding white space. */
const plainText = /^(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/
const fieldName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Encodes a header value for node, which rejects control characters. */
export function encodeHeaderValue(text: string): string {
  return beyondAscii.test(text) ? latin1Text(utf8Bytes(text)) : text
}

/**
 * Encodes the value of a response header so that it can always be sent: as in kube-apiserver, control characters become spaces and
 * surrounding white space is removed. Do not use it for requests, where a changed value may name another user.
 */
export function sanitizeHeaderValue(text: string): string {
  if (plainText.test(text)) return text
  let encoded = ''
  for (const byte of utf8Bytes(text)) encoded += (byte < 0x20 && byte !== 0x09) || byte === 0x7f ? ' ' : String.fromCharCode(byte)
  return encoded.replace(/^[ \t]+|[ \t]+$/g, '')
}

/** Whether a text is a valid header name. Other headers are omitted, as in kube-apiserver. */
export function isHeaderName(name: string): boolean {
  return fieldName.test(name)
}

/** Decodes text that node read from a request head. */
export function decodeHeaderValue(text: string): string {
  return beyondAscii.test(text) ? utf8Text(latin1Bytes(text)) : text
}
