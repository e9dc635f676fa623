import { goQuoteShort } from '@krmkit/meta/go-text'

/** Parses IP addresses by the grammar of Go's `net/netip`, with the errors that `ParseAddr` reports. */

/** Thrown for text that is not an address; `message` is the part after `ParseAddr("…"): `. */
export class AddressError extends Error {
  /** @param rest the text from the position of the problem; empty to show none. */
  constructor(problem: string, rest = '') {
    super(rest === '' ? problem : `${problem} (at ${goQuoteShort(rest)})`)
  }
}

/**
 * Parses an address.
 *
 * @returns 4 or 16 bytes, and the zone of an IPv6 address if it has one.
 * @throws AddressError
 */
export function readAddress(text: string): { readonly bytes: Uint8Array; readonly zone?: string } {
  // The first separator determines the form.
  const sign = /[.:%]/.exec(text)?.[0]
  if (sign === undefined) throw new AddressError('unable to parse IP')
  if (sign === '%') throw new AddressError('missing IPv6 address')
  if (sign === '.') return { bytes: Uint8Array.from(readV4(text)) }
  const percent = text.indexOf('%')
  if (percent < 0) return { bytes: readV6(text) }
  const zone = text.slice(percent + 1)
  if (zone === '') throw new AddressError('zone must be a non-empty string')
  return { bytes: readV6(text.slice(0, percent)), zone }
}

/** Parses four decimal parts without leading zeros. */
function readV4(text: string): number[] {
  const bytes: number[] = []
  let digits = ''
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string
    if (char >= '0' && char <= '9') {
      if (digits === '0') throw new AddressError('IPv4 field has octet with leading zero')
      digits += char
      if (Number(digits) > 255) throw new AddressError('IPv4 field has value >255')
    } else if (char === '.') {
      if (digits === '' || i === text.length - 1) throw new AddressError('IPv4 field must have at least one digit', text.slice(i))
      if (bytes.length === 3) throw new AddressError('IPv4 address too long')
      bytes.push(Number(digits))
      digits = ''
    } else throw new AddressError('unexpected character', text.slice(i))
  }
  if (bytes.length < 3) throw new AddressError('IPv4 address too short')
  return [...bytes, Number(digits)]
}

/** Bytes of an IPv6 address. */
const length = 16

function readV6(text: string): Uint8Array {
  const bytes: number[] = []
  let gap = text.startsWith('::') ? 0 : -1
  let rest = gap === 0 ? text.slice(2) : text
  while (rest !== '' || (gap < 0 && bytes.length === 0)) {
    if (bytes.length === length) throw new AddressError('trailing garbage after address', rest)
    const group = readGroup(rest)
    if (rest[group.length] === '.') {
      if (gap < 0 && bytes.length !== length - 4) {
        throw new AddressError('embedded IPv4 address must replace the final 2 fields of the address', rest)
      }
      if (bytes.length > length - 4) {
        throw new AddressError('too many hex fields to fit an embedded IPv4 at the end of the address', rest)
      }
      bytes.push(...readV4(rest))
      break
    }
    const value = Number.parseInt(group, 16)
    bytes.push(value >> 8, value & 255)
    rest = rest.slice(group.length)
    if (rest === '') break
    if (rest[0] !== ':') throw new AddressError('unexpected character, want colon', rest)
    if (rest.length === 1) throw new AddressError('colon must be followed by more characters', rest)
    rest = rest.slice(1)
    if (rest[0] !== ':') continue
    if (gap >= 0) throw new AddressError('multiple :: in address', rest)
    gap = bytes.length
    rest = rest.slice(1)
  }
  return filled(bytes, gap)
}

/** Returns the hexadecimal digits at the start of a text. */
function readGroup(text: string): string {
  const [digits = ''] = /^[0-9a-fA-F]*/.exec(text) ?? []
  if (digits.length > 4) throw new AddressError('each group must have 4 or less digits', text)
  if (digits === '') throw new AddressError('each colon-separated field must have at least one digit', text)
  return digits
}

/** Fills the gap of `::` at position `gap` with zeros. */
function filled(bytes: readonly number[], gap: number): Uint8Array {
  const result = new Uint8Array(length)
  if (bytes.length < length && gap < 0) throw new AddressError('address string too short')
  if (bytes.length === length && gap >= 0) throw new AddressError('the :: must expand to at least one field of zeros')
  const head = gap < 0 ? bytes : bytes.slice(0, gap)
  const tail = bytes.slice(head.length)
  result.set(head)
  result.set(tail, length - tail.length)
  return result
}
