/** IP addresses and CIDR ranges in canonical form, which newer kinds require. */

import {
  formatIP,
  hasLeadingZeros,
  type IpAddress,
  type IpRange,
  parseCIDR,
  parseIP,
  validateCIDR,
  validateIP,
} from '@krmkit/base/ip'
import { goQuote } from '@krmkit/meta/go-text'

/** Errors of an address that must be canonical. */
export function validateStrictAddress(text: string): string[] {
  const address = parseIP(text)
  if (address === undefined) return validateIP(text)
  const ambiguous = ambiguousAddress(text, address)
  if (ambiguous.length > 0) return ambiguous
  const canonical = formatIP(address.bytes)
  return text === canonical ? [] : [`must be in canonical form (${goQuote(canonical)})`]
}

/** Errors of a range that must be canonical. */
export function validateStrictRange(text: string): string[] {
  const range = parseCIDR(text)
  if (range === undefined) return validateCIDR(text)
  const { address, prefixLength } = range
  const ambiguous = ambiguousRange(text, range)
  if (ambiguous.length > 0) return ambiguous
  const canonical = `${formatIP(address.bytes)}/${prefixLength}`
  return text === canonical ? [] : [`must be in canonical form (${goQuote(canonical)})`]
}

/** Errors of an address in a notation that programs read differently; the notation may otherwise vary. */
export function validateUnambiguousAddress(text: string): string[] {
  const address = parseIP(text)
  return address === undefined ? validateIP(text) : ambiguousAddress(text, address)
}

/** Errors of a range in a notation that programs read differently. @see {@link validateUnambiguousAddress} */
export function validateUnambiguousRange(text: string): string[] {
  const range = parseCIDR(text)
  return range === undefined ? validateCIDR(text) : ambiguousRange(text, range)
}

function ambiguousAddress(text: string, address: IpAddress): string[] {
  if (hasLeadingZeros(text)) return ['must not have leading 0s']
  return isMapped(address) ? ['must not be an IPv4-mapped IPv6 address'] : []
}

function ambiguousRange(text: string, { address, prefixLength }: IpRange): string[] {
  if (hasLeadingZeros(text) || /\/0[0-9]/.test(text)) return ['must not have leading 0s in IP or prefix length']
  if (isMapped(address)) return ['must not have an IPv4-mapped IPv6 address']
  return hasBitsBeyond(address.bytes, prefixLength) ? ['must not have bits set beyond the prefix length'] : []
}

function isMapped({ bytes, family }: IpAddress): boolean {
  return family === 4 && bytes.length > 4
}

function hasBitsBeyond(bytes: Uint8Array, prefixLength: number): boolean {
  return bytes.some((byte, i) => {
    const bits = Math.min(Math.max(prefixLength - i * 8, 0), 8)
    return (byte & (0xff >> bits)) !== 0
  })
}
