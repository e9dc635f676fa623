/**
 * IP addresses and CIDRs as kube-apiserver parses them: leading zeros of decimal parts are ignored, zones are rejected.
 * Resolvers and URL parsers interpret the same text differently (they read `0177.0.0.1` as 127.0.0.1), so connections use
 * `canonicalIP` and `connectableHost`.
 */

/** Message for an invalid address. */
export const ipError = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
/** Message for an invalid CIDR. */
export const cidrError = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'

/** An address of 4 or 16 bytes. An IPv4-mapped IPv6 address (`::ffff:1.2.3.4`) has 16 bytes. */
export interface IpAddress {
  readonly bytes: Uint8Array
  readonly family: 4 | 6
}

/** An address with a prefix length. */
export interface IpRange {
  readonly address: IpAddress
  readonly prefixLength: number
}

/**
 * Validates an IP address.
 *
 * @example
 * import { validateIP } from '@krmkit/base/ip'
 * validateIP('10.0.0.1') // []
 * validateIP('10.0.0.256') // [ 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)' ]
 */
export function validateIP(text: string): string[] {
  return parseIP(text) === undefined ? [ipError] : []
}

/** Validates a CIDR. @see {@link validateIP} */
export function validateCIDR(text: string): string[] {
  return parseCIDR(text) === undefined ? [cidrError] : []
}

/**
 * Parses an address; `undefined` when invalid.
 *
 * @example
 * import { parseIP } from '@krmkit/base/ip'
 * parseIP('10.0.0.1')?.bytes // Uint8Array(4) [ 10, 0, 0, 1 ]
 */
export function parseIP(text: string): IpAddress | undefined {
  if (text.length > 45) return undefined
  if (!text.includes(':')) {
    const bytes = parseV4(text)
    return bytes === undefined ? undefined : { bytes, family: 4 }
  }
  const bytes = parseV6(text)
  if (bytes === undefined) return undefined
  return { bytes, family: isMappedV4(bytes) ? 4 : 6 }
}

/**
 * Parses a CIDR; `undefined` when invalid.
 *
 * @example
 * import { parseCIDR } from '@krmkit/base/ip'
 * parseCIDR('10.96.0.0/12')?.prefixLength // 12
 */
export function parseCIDR(text: string): IpRange | undefined {
  const slash = text.indexOf('/')
  if (slash < 0) return undefined
  const bits = text.slice(slash + 1)
  const address = parseIP(text.slice(0, slash))
  if (address === undefined || !/^[0-9]{1,3}$/.test(bits)) return undefined
  const prefixLength = Number(bits)
  if (prefixLength > address.bytes.length * 8) return undefined
  return { address, prefixLength }
}

/**
 * Prints an address canonically: an IPv4 address (also a mapped one) in dotted decimals, an IPv6 address in lower case with its longest
 * run of zero groups elided.
 *
 * @example
 * import { formatIP } from '@krmkit/base/ip'
 * formatIP(Uint8Array.of(10, 0, 0, 1)) // '10.0.0.1'
 */
export function formatIP(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join('.')
  if (isMappedV4(bytes)) return bytes.subarray(12).join('.')
  const groups: string[] = []
  for (let i = 0; i < 16; i += 2) groups.push((((bytes[i] as number) << 8) | (bytes[i + 1] as number)).toString(16))
  const gap = longestZeros(groups)
  if (gap.length < 2) return groups.join(':')
  return `${groups.slice(0, gap.start).join(':')}::${groups.slice(gap.start + gap.length).join(':')}`
}

/**
 * The canonical text of an address; `undefined` when invalid. Use this text both to check and to dial an address from an
 * object.
 *
 * @example
 * import { canonicalIP } from '@krmkit/base/ip'
 * canonicalIP('0177.0.0.1') // '177.0.0.1'
 */
export function canonicalIP(text: string): string | undefined {
  const address = parseIP(text)
  return address === undefined ? undefined : formatIP(address.bytes)
}

/**
 * Returns the host to connect to for a name or address from an object: the canonical address (with its zone), or the DNS
 * name. `undefined` for other text, and for text that resolvers and URL parsers would read as another address: leading zeros,
 * fewer than four parts, hexadecimal numbers.
 *
 * @example
 * import { connectableHost } from '@krmkit/base/ip'
 * connectableHost('node-1.example.com') // 'node-1.example.com'
 * connectableHost('0x7f.1') // undefined
 */
export function connectableHost(text: string): string | undefined {
  const [, address = '', zone = ''] = /^([^%]*)(%[A-Za-z0-9_.-]+)?$/.exec(text) ?? []
  const canonical = canonicalIP(address)
  if (canonical !== undefined && !hasLeadingZeros(address))
    return zone === '' || address.includes(':') ? canonical + zone : undefined
  return text.length <= 254 && dnsName.test(text) && !numericEnd.test(text) ? text : undefined
}

/**
 * Whether an address or a CIDR has a decimal part with leading zeros. The IPv4 suffix of an IPv6 address counts, too.
 *
 * @example
 * import { hasLeadingZeros } from '@krmkit/base/ip'
 * hasLeadingZeros('10.0.0.01') // true
 */
export function hasLeadingZeros(text: string): boolean {
  return /(^|[.:])0[0-9]+\./.test(text) || /\.0[0-9]+(\/|$)/.test(text)
}

const dnsName = /^(?:[A-Za-z0-9_-]{1,63}(?:\.|$))+$/
/** Matches text whose last label is a number: resolvers and URL parsers read it as an address or reject it. */
const numericEnd = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)\.?$/i

function isMappedV4(bytes: Uint8Array): boolean {
  for (let i = 0; i < 10; i++) if (bytes[i] !== 0) return false
  return bytes[10] === 255 && bytes[11] === 255
}

function parseV4(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(4)
  let part = 0
  let value = -1
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 48 && unit <= 57) {
      value = (value < 0 ? 0 : value * 10) + unit - 48
      if (value > 255) return undefined
    } else {
      if (unit !== 46 || value < 0 || part === 3) return undefined
      bytes[part++] = value
      value = -1
    }
  }
  if (part !== 3 || value < 0) return undefined
  bytes[3] = value
  return bytes
}

function parseV6(text: string): Uint8Array | undefined {
  const gap = text.indexOf('::')
  if (gap >= 0 && text.indexOf('::', gap + 1) >= 0) return undefined
  const head = groups(gap < 0 ? text : text.slice(0, gap), gap < 0)
  const tail = gap < 0 ? [] : groups(text.slice(gap + 2), true)
  if (head === undefined || tail === undefined) return undefined
  const count = head.length + tail.length
  if (gap < 0 ? count !== 8 : count > 7) return undefined
  const bytes = new Uint8Array(16)
  const put = (at: number, group: number) => {
    bytes[at * 2] = group >> 8
    bytes[at * 2 + 1] = group & 255
  }
  head.forEach((group, i) => {
    put(i, group)
  })
  tail.forEach((group, i) => {
    put(8 - tail.length + i, group)
  })
  return bytes
}

/** The first of the longest runs of zero groups. */
function longestZeros(groups: readonly string[]): { readonly start: number; readonly length: number } {
  let best = { start: 0, length: 0 }
  let length = 0
  for (const [index, group] of groups.entries()) {
    length = group === '0' ? length + 1 : 0
    if (length > best.length) best = { start: index - length + 1, length }
  }
  return best
}

/** Parses groups of 16 bits; the last one may be an IPv4 address, which yields two. */
function groups(text: string, last: boolean): number[] | undefined {
  if (text === '') return []
  const out: number[] = []
  const parts = text.split(':')
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] as string
    if (/^[0-9a-fA-F]{1,4}$/.test(part)) out.push(Number.parseInt(part, 16))
    else {
      const v4 = last && i === parts.length - 1 ? parseV4(part) : undefined
      if (v4 === undefined) return undefined
      out.push(((v4[0] as number) << 8) | (v4[1] as number), ((v4[2] as number) << 8) | (v4[3] as number))
    }
  }
  return out
}
