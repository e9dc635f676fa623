import { tags } from './reader.ts'
import { isPrintable } from './strings.ts'

/** A DER writer: elements are built from the inside out. */

const encoder = new TextEncoder()

/**
 * Writes an element whose content is the concatenation of `parts`.
 *
 * @example
 * sequence(oid('2.5.29.19'), boolean(true), octetString(sequence()))
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

export function sequence(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return der(tags.sequence, ...parts)
}

/** Writes a SET OF, sorted by encoding as DER requires. */
export function setOf(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return der(tags.set, ...[...parts].sort(compareBytes))
}

/** Writes a non-negative INTEGER from a number or from big-endian bytes. */
export function integer(bytes: Uint8Array | number): Uint8Array<ArrayBuffer> {
  const all = typeof bytes === 'number' ? bytesOfNumber(bytes) : bytes
  let start = 0
  while (start < all.length - 1 && all[start] === 0) start++
  const minimal = all.subarray(start)
  return (minimal[0] ?? 0) >= 0x80 ? der(tags.integer, Uint8Array.of(0), minimal) : der(tags.integer, minimal)
}

export function oid(text: string): Uint8Array<ArrayBuffer> {
  const [top = 0, second = 0, ...rest] = text.split('.').map(Number)
  return der(tags.oid, Uint8Array.from([top * 40 + second, ...rest].flatMap(arcBytes)))
}

/** Writes a BIT STRING without unused bits. */
export function bitString(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return der(tags.bitString, Uint8Array.of(0), bytes)
}

/** Writes a named bit list: bit 0 is the most significant; trailing zero bits are omitted. */
export function namedBits(bits: readonly number[]): Uint8Array<ArrayBuffer> {
  const last = Math.max(...bits, -1)
  if (last < 0) return der(tags.bitString, Uint8Array.of(0))
  const bytes = new Uint8Array(Math.floor(last / 8) + 1)
  for (const bit of bits) bytes[Math.floor(bit / 8)]! |= 0x80 >> (bit % 8)
  return der(tags.bitString, Uint8Array.of(7 - (last % 8)), bytes)
}

/** Wraps `content` in an explicit context tag. */
export function explicit(number: number, content: Uint8Array): Uint8Array<ArrayBuffer> {
  return der(0xa0 | number, content)
}

export function octetString(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return der(tags.octetString, bytes)
}

export function boolean(value: boolean): Uint8Array<ArrayBuffer> {
  return der(tags.boolean, Uint8Array.of(value ? 0xff : 0))
}

/** Writes a DirectoryString: PrintableString where possible, else UTF8String. */
export function directoryString(text: string): Uint8Array<ArrayBuffer> {
  return der(isPrintable(text) ? tags.printableString : tags.utf8String, encoder.encode(text))
}

/** Writes an ASCII string with an implicit tag. */
export function ascii(tag: number, text: string): Uint8Array<ArrayBuffer> {
  return der(tag, encoder.encode(text))
}

/** Writes a time, in milliseconds since the epoch, with second precision: UTCTime for 1950 to 2049, else GeneralizedTime. */
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
