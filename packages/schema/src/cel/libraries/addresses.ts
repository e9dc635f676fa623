import { goQuote } from '@krmkit/meta/go-text'

/** IP addresses, parsed strictly and printed as by Go's `net/netip`. */

export interface Address {
  /** Length 4 or 16. */
  readonly bytes: Uint8Array
}

export interface AddressRange {
  readonly address: Address
  readonly bits: number
}

type Problem = { readonly problem: string }

/** Parse error. */
class ParseError extends Error {}

export function parseAddress(text: string): Address | Problem {
  try {
    const { bytes, zone } = readAddress(text)
    if (zone !== undefined) return { problem: `IP address ${goQuote(text)} with zone value is not allowed` }
    return isMapped(bytes) ? { problem: `IPv4-mapped IPv6 address ${goQuote(text)} is not allowed` } : { bytes }
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    return { problem: `IP Address ${goQuote(text)} parse error during conversion from string: ${parseError(text, error)}` }
  }
}

function parseError(text: string, { message }: ParseError): string {
  return `ParseAddr(${goQuote(text)}): ${message}`
}

export function parseRange(text: string): AddressRange | Problem {
  const slash = text.lastIndexOf('/')
  const failed = (why: string): Problem => ({
    problem: `network address parse error during conversion from string: netip.ParsePrefix(${goQuote(text)}): ${why}`,
  })
  if (slash < 0) return failed("no '/'")
  const own = text.slice(0, slash)
  try {
    const { bytes, zone } = readAddress(own)
    if (zone !== undefined) return failed('IPv6 zones cannot be present in a prefix')
    const bits = text.slice(slash + 1)
    if (!/^(?:0|[1-9]\d{0,2})$/.test(bits)) return failed(`bad bits after slash: ${goQuote(bits)}`)
    if (Number(bits) > bytes.length * 8) return failed('prefix length out of range')
    if (isMapped(bytes)) return { problem: `IPv4-mapped IPv6 address ${goQuote(text)} is not allowed` }
    return { address: { bytes }, bits: Number(bits) }
  } catch (error) {
    if (error instanceof ParseError) return failed(parseError(own, error))
    throw error
  }
}

/** The first separator determines the form. */
function readAddress(text: string): { bytes: Uint8Array; zone?: string } {
  const sign = /[.:%]/.exec(text)?.[0]
  if (sign === '.') return { bytes: Uint8Array.from(readV4(text)) }
  if (sign === '%') throw new ParseError('missing IPv6 address')
  if (sign === undefined) throw new ParseError('unable to parse IP')
  const percent = text.indexOf('%')
  if (percent < 0) return { bytes: readV6(text) }
  const zone = text.slice(percent + 1)
  if (zone === '') throw new ParseError('zone must be a non-empty string')
  return { bytes: readV6(text.slice(0, percent)), zone }
}

/** Four parts without leading zeros. */
function readV4(text: string): number[] {
  const bytes: number[] = []
  let value = 0
  let length = 0
  for (let i = 0; i < text.length; i++) {
    const char = text[i] as string
    if (char >= '0' && char <= '9') {
      if (length === 1 && value === 0) throw new ParseError('IPv4 field has octet with leading zero')
      value = value * 10 + Number(char)
      length++
      if (value > 255) throw new ParseError('IPv4 field has value >255')
    } else if (char === '.') {
      if (length === 0 || i === text.length - 1) throw new ParseError('IPv4 field must have at least one digit')
      if (bytes.length === 3) throw new ParseError('IPv4 address too long')
      bytes.push(value)
      value = 0
      length = 0
    } else throw new ParseError(`unexpected character (at ${goQuote(text.slice(i))})`)
  }
  if (bytes.length < 3) throw new ParseError('IPv4 address too short')
  return [...bytes, value]
}

const unreadable = 'unable to parse IP'

function readV6(text: string): Uint8Array {
  if (text.length > 45) throw new ParseError(unreadable)
  const halves = text.split('::')
  const [head, tail = []] = halves.map((half) => readGroups(half))
  if (head === undefined || halves.length > 2) throw new ParseError('multiple :: in address')
  if (halves.length === 1 && head.length < 16) throw new ParseError('address string too short')
  if (head.length + tail.length > (halves.length === 1 ? 16 : 14)) throw new ParseError(unreadable)
  const bytes = new Uint8Array(16)
  bytes.set(head)
  bytes.set(tail, 16 - tail.length)
  return bytes
}

/** Groups of up to four hexadecimal digits; the last may be an IPv4 address. */
function readGroups(text: string): number[] {
  if (text === '') return []
  const bytes: number[] = []
  const groups = text.split(':')
  for (const [index, group] of groups.entries()) {
    if (group.includes('.')) {
      if (index < groups.length - 1) throw new ParseError(unreadable)
      bytes.push(...readV4(group))
    } else {
      if (group === '') throw new ParseError('each colon-separated field must have at least one digit')
      if (/^[0-9a-fA-F]{5}/.test(group)) throw new ParseError('each group must have 4 or less digits')
      if (!/^[0-9a-fA-F]+$/.test(group)) throw new ParseError(unreadable)
      const value = Number.parseInt(group, 16)
      bytes.push(value >> 8, value & 255)
    }
  }
  if (bytes.length > 16) throw new ParseError('trailing garbage after address')
  return bytes
}

function isMapped(bytes: Uint8Array): boolean {
  return bytes.length === 16 && bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255
}

/** Canonical text of an address. */
export function addressText({ bytes }: Address): string {
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[i * 2] as number) << 8) | (bytes[i * 2 + 1] as number))
  let start = -1
  let length = 1
  for (let i = 0; i < 8; i++) {
    let end = i
    while (end < 8 && groups[end] === 0) end++
    if (end - i > length) {
      start = i
      length = end - i
    }
    if (end > i) i = end
  }
  const text = (list: readonly number[]) => list.map((group) => group.toString(16)).join(':')
  return start < 0 ? text(groups) : `${text(groups.slice(0, start))}::${text(groups.slice(start + length))}`
}

/** The address with all but its first `bits` bits cleared. */
export function masked({ bytes }: Address, bits: number): Address {
  return {
    bytes: bytes.map((byte, index) => {
      const kept = Math.min(8, Math.max(0, bits - index * 8))
      return byte & (0xff << (8 - kept)) & 0xff
    }),
  }
}

export function sameAddress(a: Address, b: Address): boolean {
  return a.bytes.length === b.bytes.length && a.bytes.every((byte, index) => byte === b.bytes[index])
}

/** Address properties. */
export const addressProperties = {
  isUnspecified: ({ bytes }: Address) => bytes.every((byte) => byte === 0),
  isLoopback: ({ bytes }: Address) =>
    bytes.length === 4 ? bytes[0] === 127 : bytes[15] === 1 && bytes.subarray(0, 15).every((byte) => byte === 0),
  isLinkLocalMulticast: ({ bytes }: Address) =>
    bytes.length === 4
      ? bytes[0] === 224 && bytes[1] === 0 && bytes[2] === 0
      : bytes[0] === 0xff && ((bytes[1] as number) & 0x0f) === 2,
  isLinkLocalUnicast: ({ bytes }: Address) =>
    bytes.length === 4 ? bytes[0] === 169 && bytes[1] === 254 : bytes[0] === 0xfe && ((bytes[1] as number) & 0xc0) === 0x80,
  isGlobalUnicast: (address: Address): boolean => {
    const { bytes } = address
    if (bytes.length === 4 && bytes.every((byte) => byte === 255)) return false
    const multicast = bytes.length === 4 ? ((bytes[0] as number) & 0xf0) === 0xe0 : bytes[0] === 0xff
    return (
      !multicast &&
      !addressProperties.isUnspecified(address) &&
      !addressProperties.isLoopback(address) &&
      !addressProperties.isLinkLocalUnicast(address)
    )
  },
} as const satisfies Readonly<Record<string, (address: Address) => boolean>>
