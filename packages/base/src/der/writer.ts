import { tags } from './reader.ts'
import { isPrintable } from './strings.ts'

/** A DER writer: elements are built from the inside out. */

const encoder = new TextEncoder()

/**
 * Writes an element whose content is the concatenation of `parts`.
 *
 * @example
 * import { boolean, der, octetString, oid, sequence, tags } from '@krmkit/base/der'
 * const basicConstraints = sequence(oid('2.5.29.19'), boolean(true), octetString(sequence()))
 * Buffer.from(basicConstraints).toString('hex') // '300c0603551d130101ff04023000'
 * Buffer.from(der(tags.sequence, boolean(true))).toString('hex') // '30030101ff'
 */
export function der(tag: number, ...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const head = [tag, ...lengthBytes(length)]
  const whole = new Uint8Array(head.length + length)
  whole.set(head)
  let at = head.length
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Writes a SEQUENCE of encoded elements. @see {@link der} */
export function sequence(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return der(tags.sequence, ...parts)
}

/**
 * Writes a SET OF, sorted by encoding as DER requires.
 *
 * @example
 * import { integer, setOf } from '@krmkit/base/der'
 * Buffer.from(setOf(integer(2), integer(1))).toString('hex') // '3106020101020102'
 */
export function setOf(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return der(tags.set, ...[...parts].sort(compareBytes))
}

/**
 * Writes a non-negative INTEGER from a number or from big-endian bytes.
 *
 * @example
 * import { integer } from '@krmkit/base/der'
 * Buffer.from(integer(1000)).toString('hex') // '020203e8'
 */
export function integer(bytes: Uint8Array | number): Uint8Array<ArrayBuffer> {
  const all = typeof bytes === 'number' ? bytesOfNumber(bytes) : bytes
  let start = 0
  while (start < all.length - 1 && all[start] === 0) start++
  const minimal = all.subarray(start)
  return (minimal[0] ?? 0) >= 0x80 ? der(tags.integer, Uint8Array.of(0), minimal) : der(tags.integer, minimal)
}

/** Writes an OBJECT IDENTIFIER from dotted decimals. @see {@link der} */
export function oid(text: string): Uint8Array<ArrayBuffer> {
  const [top = 0, second = 0, ...rest] = text.split('.').map(Number)
  return der(tags.oid, Uint8Array.from([top * 40 + second, ...rest].flatMap(arcBytes)))
}

/**
 * Writes a BIT STRING without unused bits.
 *
 * @example
 * import { bitString } from '@krmkit/base/der'
 * Buffer.from(bitString(Uint8Array.of(255))).toString('hex') // '030200ff'
 */
export function bitString(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return der(tags.bitString, Uint8Array.of(0), bytes)
}

/**
 * Writes a named bit list: bit 0 is the most significant; trailing zero bits are omitted.
 *
 * @example
 * import { namedBits } from '@krmkit/base/der'
 * Buffer.from(namedBits([0, 2])).toString('hex') // '030205a0'
 */
export function namedBits(bits: readonly number[]): Uint8Array<ArrayBuffer> {
  const last = Math.max(...bits, -1)
  if (last < 0) return der(tags.bitString, Uint8Array.of(0))
  const bytes = new Uint8Array(Math.floor(last / 8) + 1)
  for (const bit of bits) bytes[Math.floor(bit / 8)]! |= 0x80 >> (bit % 8)
  return der(tags.bitString, Uint8Array.of(7 - (last % 8)), bytes)
}

/**
 * Wraps `content` in an explicit context tag.
 *
 * @example
 * import { explicit, integer } from '@krmkit/base/der'
 * Buffer.from(explicit(0, integer(2))).toString('hex') // 'a003020102'
 */
export function explicit(number: number, content: Uint8Array): Uint8Array<ArrayBuffer> {
  return der(0xa0 | number, content)
}

/** Writes an OCTET STRING. @see {@link der} */
export function octetString(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return der(tags.octetString, bytes)
}

/** Writes a BOOLEAN. @see {@link der} */
export function boolean(value: boolean): Uint8Array<ArrayBuffer> {
  return der(tags.boolean, Uint8Array.of(value ? 0xff : 0))
}

/**
 * Writes a DirectoryString: PrintableString where possible, else UTF8String.
 *
 * @example
 * import { directoryString } from '@krmkit/base/der'
 * Buffer.from(directoryString('Jane')).toString('hex') // '13044a616e65'
 */
export function directoryString(text: string): Uint8Array<ArrayBuffer> {
  return der(isPrintable(text) ? tags.printableString : tags.utf8String, encoder.encode(text))
}

/**
 * Writes an ASCII string with an implicit tag.
 *
 * @example
 * import { ascii } from '@krmkit/base/der'
 * const dnsName = ascii(0x82, 'a.io')
 * Buffer.from(dnsName).toString('hex') // '8204612e696f'
 */
export function ascii(tag: number, text: string): Uint8Array<ArrayBuffer> {
  return der(tag, encoder.encode(text))
}

/**
 * Writes a time, in milliseconds since the epoch, with second precision: UTCTime for 1950 to 2049, else GeneralizedTime.
 *
 * @example
 * import { time } from '@krmkit/base/der'
 * Buffer.from(time(Date.UTC(2024, 4, 1))).toString('latin1').slice(2) // '240501000000Z'
 */
export function time(ms: number): Uint8Array<ArrayBuffer> {
  const digits = new Date(ms)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:T]/g, '')
  const isShort = digits >= '1950' && digits < '2050'
  return der(isShort ? tags.utcTime : tags.generalizedTime, encoder.encode(isShort ? digits.slice(2) : digits))
}

function lengthBytes(length: number): number[] {
  return length < 0x80 ? [length] : [0x80 + bytesOfNumber(length).length, ...bytesOfNumber(length)]
}

function bytesOfNumber(value: number): Uint8Array {
  const bytes: number[] = []
  for (let left = value; left > 0; left = Math.floor(left / 256)) bytes.unshift(left % 256)
  return Uint8Array.from(bytes.length === 0 ? [0] : bytes)
}

function arcBytes(arc: number): number[] {
  const bytes = [arc % 128]
  for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) bytes.unshift((left % 128) + 128)
  return bytes
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i]! - b[i]!
  return a.length - b.length
}
