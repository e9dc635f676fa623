import { base64Bytes, base64Text } from '@krmkit/base/bytes'
import { DecodeError } from '../schema-error.ts'

/** Standard base64 as in Go: padding is required, line breaks are ignored. */

/**
 * Removes line breaks and clears unused trailing bits.
 *
 * @throws DecodeError `Value` with Go's message.
 */
export function normalizeBase64(text: string): string {
  const padding = paddingOf(text)
  if (padding !== undefined && (padding === 0 || lastDigits[padding - 1]?.includes(text[text.length - padding - 1] as string)))
    return text
  return bytesToBase64(base64ToBytes(text))
}

/**
 * Decodes base64.
 *
 * @throws DecodeError `Value`: `illegal base64 data at input byte 3`; the position counts bytes of UTF-8.
 * @example
 * import { base64ToBytes } from '@krmkit/schema/decode'
 * base64ToBytes('aGk=') // Uint8Array(2) [ 104, 105 ]
 */
export function base64ToBytes(text: string): Uint8Array {
  const clean = text.replace(/[\r\n]+/g, '')
  if (paddingOf(clean) === undefined) {
    throw new DecodeError({
      code: 'Value',
      message: `illegal base64 data at input byte ${firstIllegal(new TextEncoder().encode(text))}`,
    })
  }
  return new Uint8Array(base64Bytes(clean))
}

/**
 * Encodes bytes as base64 with padding.
 *
 * @example
 * import { bytesToBase64 } from '@krmkit/schema/decode'
 * bytesToBase64(new TextEncoder().encode('hi')) // 'aGk='
 * @see {@link base64ToBytes}
 */
export function bytesToBase64(bytes: Uint8Array): string {
  return base64Text(bytes)
}

/** Valid last digits before the padding, whose unused bits are zero, by number of padding characters. */
const lastDigits: readonly string[] = ['AEIMQUYcgkosw048', 'AQgw']

/** Number of padding characters of well-formed text; `undefined` for malformed text. */
function paddingOf(text: string): number | undefined {
  if (text.length % 4 !== 0) return undefined
  const end = text.search(/[^A-Za-z0-9+/]/)
  if (end < 0) return 0
  const padding = text.length - end
  if (padding > 2) return undefined
  return text.endsWith('='.repeat(padding)) ? padding : undefined
}

/**
 * Position of the first illegal byte. Reads groups of four like Go's decoder, because the position appears in the error
 * message.
 */
function firstIllegal(source: Uint8Array): number {
  let at = 0
  for (;;) {
    for (let j = 0; j < 4; j++) {
      while (at < source.length && isBreak(source[at])) at++
      if (at === source.length) return at - j
      const byte = source[at++] as number
      if (isDigit(byte)) continue
      if (byte !== equals) return at - 1
      if (j < 2) return at - 1
      if (j === 2) {
        while (at < source.length && isBreak(source[at])) at++
        if (at === source.length) return source.length
        if (source[at] !== equals) return at - 1
        at++
      }
      while (at < source.length && isBreak(source[at])) at++
      return at
    }
  }
}

const equals = 0x3d

function isBreak(byte: number | undefined): boolean {
  return byte === 0x0a || byte === 0x0d
}

function isDigit(byte: number): boolean {
  return (
    (byte >= 0x41 && byte <= 0x5a) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x30 && byte <= 0x39) ||
    byte === 0x2b ||
    byte === 0x2f
  )
}
