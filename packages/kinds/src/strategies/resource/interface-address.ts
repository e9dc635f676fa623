import { formatIP, parseCIDR } from '@krmkit/base/ip'
import { goQuote } from '@krmkit/meta/go-text'

/** Errors of an address with the prefix of its network, which must be canonical; bits beyond the prefix may be set. */
export function validateInterfaceAddress(text: string): string[] {
  const range = parseCIDR(text)
  if (range === undefined) return ['must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)']
  const { address, prefixLength } = range
  const isV4 = address.family === 4
  const bits = isV4 && prefixLength > 32 ? prefixLength - 96 : prefixLength
  const canonical = `${formatIP(address.bytes)}/${bits}`
  return text === canonical ? [] : [`must be in canonical form (${goQuote(canonical)})`]
}
