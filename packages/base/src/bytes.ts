/**
 * Operations on bytes and their text forms, for every runtime. Where `Buffer` exists it is used, because it is faster; the
 * results are the same. A separate entry point: `@krmkit/base/bytes`.
 */

/** Absent in browsers. */
const buffer = typeof Buffer === 'undefined' ? undefined : Buffer

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Joins chunks.
 *
 * @param length Sum of the lengths in bytes, if known.
 * @example
 * import { concatBytes } from '@krmkit/base/bytes'
 * concatBytes([Uint8Array.of(1), Uint8Array.of(2, 3)]) // bytes 1, 2, 3
 */
export function concatBytes(chunks: readonly Uint8Array[], length?: number): Uint8Array {
  if (buffer !== undefined) return buffer.concat(chunks, length)
  const joined = new Uint8Array(length ?? chunks.reduce((sum, { byteLength }) => sum + byteLength, 0))
  let at = 0
  for (const chunk of chunks) {
    joined.set(chunk, at)
    at += chunk.byteLength
  }
  return joined
}

/**
 * Allocates bytes with undefined content; the caller must write all of them.
 *
 * @example
 * import { uninitializedBytes } from '@krmkit/base/bytes'
 * uninitializedBytes(2).fill(7) // bytes 7, 7
 */
export function uninitializedBytes(length: number): Uint8Array {
  return buffer === undefined ? new Uint8Array(length) : buffer.allocUnsafeSlow(length)
}

/**
 * Whether two byte sequences are equal. The time depends on their content: do not compare secrets with it.
 *
 * @example
 * import { equalBytes } from '@krmkit/base/bytes'
 * equalBytes(Uint8Array.of(1), Uint8Array.of(1)) // true
 */
export function equalBytes(one: Uint8Array, other: Uint8Array): boolean {
  if (one.byteLength !== other.byteLength) return false
  if (buffer !== undefined) return buffer.compare(one, other) === 0
  return one.every((byte, at) => byte === other[at])
}

/**
 * Encodes text as UTF-8. Lone surrogates become U+FFFD.
 *
 * @example
 * import { utf8Bytes } from '@krmkit/base/bytes'
 * utf8Bytes('é') // bytes 195, 169
 * @see {@link utf8Text}
 */
export function utf8Bytes(text: string): Uint8Array {
  return buffer === undefined ? encoder.encode(text) : buffer.from(text)
}

/**
 * Decodes UTF-8. Malformed sequences become U+FFFD; a byte order mark is kept.
 *
 * @example
 * import { utf8Text } from '@krmkit/base/bytes'
 * utf8Text(Uint8Array.of(195, 169)) // 'é'
 */
export function utf8Text(bytes: Uint8Array): string {
  return buffer === undefined ? decoder.decode(bytes) : viewOf(buffer, bytes).toString('utf8')
}

/**
 * Decodes Latin-1: each byte becomes the character with that code.
 *
 * @example
 * import { latin1Text } from '@krmkit/base/bytes'
 * latin1Text(Uint8Array.of(233)) // 'é'
 * @see {@link latin1Bytes}
 */
export function latin1Text(bytes: Uint8Array): string {
  if (buffer !== undefined) return viewOf(buffer, bytes).toString('latin1')
  let text = ''
  // The number of arguments of a call is limited.
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return text
}

/**
 * Encodes Latin-1: the low byte of each UTF-16 unit.
 *
 * @example
 * import { latin1Bytes } from '@krmkit/base/bytes'
 * latin1Bytes('é') // byte 233
 */
export function latin1Bytes(text: string): Uint8Array {
  if (buffer !== undefined) return buffer.from(text, 'latin1')
  return Uint8Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
}

/**
 * Encodes bytes as lower-case hexadecimal digits.
 *
 * @example
 * import { hexText } from '@krmkit/base/bytes'
 * hexText(Uint8Array.of(255, 1)) // 'ff01'
 */
export function hexText(bytes: Uint8Array): string {
  if (buffer !== undefined) return viewOf(buffer, bytes).toString('hex')
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * Encodes bytes as base64 with padding.
 *
 * @example
 * import { base64Text } from '@krmkit/base/bytes'
 * base64Text(Uint8Array.of(104, 105)) // 'aGk='
 * @see {@link base64Bytes}
 */
export function base64Text(bytes: Uint8Array): string {
  return buffer === undefined ? btoa(latin1Text(bytes)) : viewOf(buffer, bytes).toString('base64')
}

/**
 * Encodes bytes as base64url without padding.
 *
 * @example
 * import { base64UrlText } from '@krmkit/base/bytes'
 * base64UrlText(Uint8Array.of(251, 255)) // '-_8'
 */
export function base64UrlText(bytes: Uint8Array): string {
  if (buffer !== undefined) return viewOf(buffer, bytes).toString('base64url')
  return base64Text(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/**
 * Decodes base64 of either alphabet. Characters that are not digits are ignored, decoding ends at the first `=`, and an
 * incomplete last group yields its complete bytes. Callers that must reject malformed text check it first.
 *
 * @example
 * import { base64Bytes } from '@krmkit/base/bytes'
 * base64Bytes('aGk=') // bytes 104, 105
 * base64Bytes('-_8') // bytes 251, 255
 */
export function base64Bytes(text: string): Uint8Array {
  if (buffer !== undefined) return buffer.from(text, 'base64')
  const digits = (text.split('=', 1)[0] ?? '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/[^\w+/]/g, '')
  // A single remaining digit is less than a byte.
  return latin1Bytes(atob(digits.length % 4 === 1 ? digits.slice(0, -1) : digits))
}

function viewOf(from: typeof Buffer, bytes: Uint8Array): Buffer {
  return from.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
