import { goQuoteShort } from '@krmkit/meta/go-text'
import { AddressError, readAddress } from './read-address.ts'

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

export function parseAddress(text: string): Address | Problem {
  try {
    const { bytes, zone } = readAddress(text)
    if (zone !== undefined) return { problem: `IP address ${goQuoteShort(text)} with zone value is not allowed` }
    return isMapped(bytes) ? { problem: `IPv4-mapped IPv6 address ${goQuoteShort(text)} is not allowed` } : { bytes }
  } catch (error) {
    if (!(error instanceof AddressError)) throw error
    return { problem: `IP Address ${goQuoteShort(text)} parse error during conversion from string: ${parseError(text, error)}` }
  }
}

function parseError(text: string, { message }: AddressError): string {
  return `ParseAddr(${goQuoteShort(text)}): ${message}`
}

export function parseRange(text: string): AddressRange | Problem {
  const slash = text.lastIndexOf('/')
  const failed = (why: string): Problem => ({
    problem: `network address parse error during conversion from string: netip.ParsePrefix(${goQuoteShort(text)}): ${why}`,
  })
  if (slash < 0) return failed("no '/'")
  const own = text.slice(0, slash)
  try {
    const { bytes, zone } = readAddress(own)
    if (zone !== undefined) return failed('IPv6 zones cannot be present in a prefix')
    const bits = text.slice(slash + 1)
    if (!/^(?:0|[1-9]\d{0,18})$/.test(bits)) return failed(`bad bits after slash: ${goQuoteShort(bits)}`)
    if (Number(bits) > bytes.length * 8) return failed('prefix length out of range')
    if (isMapped(bytes)) return { problem: `IPv4-mapped IPv6 address ${goQuoteShort(text)} is not allowed` }
    return { address: { bytes }, bits: Number(bits) }
  } catch (error) {
    if (error instanceof AddressError) return failed(parseError(own, error))
    throw error
  }
}

function isMapped(bytes: Uint8Array): boolean {
  return bytes.length === 16 && bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255
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
