/**
 * Writes one PEM block with base64 lines of 64 characters.
 *
 * @example
 * import { writePem } from '@krmkit/base/der'
 * writePem('CERTIFICATE', Uint8Array.of(1, 2, 3)) // '-----BEGIN CERTIFICATE-----\nAQID\n-----END CERTIFICATE-----\n'
 * @see RFC 7468
 */
export function writePem(label: string, bytes: Uint8Array): string {
  const lines = encodeBase64(bytes).match(/.{1,64}/g) ?? []
  return `-----BEGIN ${label}-----\n${lines.map((line) => `${line}\n`).join('')}-----END ${label}-----\n`
}

/**
 * Encodes bytes as base64 with padding, in chunks, because the number of arguments of a call is limited.
 *
 * @example
 * import { encodeBase64 } from '@krmkit/base/der'
 * encodeBase64(Uint8Array.of(1, 2, 3, 4)) // 'AQIDBA=='
 */
export function encodeBase64(bytes: Uint8Array): string {
  const pieces: string[] = []
  for (let at = 0; at < bytes.length; at += 3072) pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + 3072))))
  return pieces.join('')
}
