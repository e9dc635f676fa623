import { formatIP, type IpAddress, parseCIDR, parseIP } from '@krmkit/base/ip'
import { goQuote } from '@krmkit/meta/go-text'
import { formatV4, formatV6, toBigInt } from './address-text.ts'

/** Warnings of addresses and ranges in notations that kube-apiserver means to refuse one day. */

/** A valid IPv4 address without leading zeros. */
const plainV4 = /^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})$/

/** @param path of the member, such as `spec.externalIPs[0]` */
export function addressWarnings(path: string, text: string): string[] {
  const address = parseIP(text)
  if (address === undefined) return []
  const canonical = formatIP(address.bytes)
  if (isNonStandard(address, text)) {
    return [
      `${path}: non-standard IP address ${goQuote(text)} will be considered invalid in a future Kubernetes release: use ${goQuote(canonical)}`,
    ]
  }
  if (address.family === 4 || canonical === text) return []
  return [`${path}: IPv6 address ${goQuote(text)} should be in RFC 5952 canonical format (${goQuote(canonical)})`]
}

/** Warnings of the addresses of a load balancer, in the status of services and ingresses. */
export function loadBalancerWarnings(points: readonly { readonly ip?: string }[] | undefined): string[] {
  return (points ?? []).flatMap(({ ip = '' }, i) => (ip === '' ? [] : addressWarnings(`status.loadBalancer.ingress[${i}]`, ip)))
}

/** An IPv4 range without leading zeros, and its parts. */
const plainRange = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\/(0|[1-9]\d?)$/

/**
 * Whether the text is an IPv4 range without a warning: plain, and with no bits set beyond its prefix. Much cheaper than `rangeWarnings`, for
 * long lists.
 */
export function isPlainRange(text: string): boolean {
  const parts = plainRange.exec(text)
  if (parts === null) return false
  let address = 0
  for (let i = 1; i <= 4; i++) {
    const byte = Number(parts[i])
    if (byte > 255) return false
    address = address * 256 + byte
  }
  const bits = Number(parts[5])
  return bits <= 32 && address % 2 ** (32 - bits) === 0
}

/** @param path of the member, such as `spec.podCIDRs[0]` */
export function rangeWarnings(path: string, text: string): string[] {
  const range = parseCIDR(text)
  if (range === undefined) return []
  const { address, prefixLength } = range
  const [given, bits = ''] = text.split('/') as [string, string?]
  const nonStandard = isNonStandard(address, given)
  const network = `${networkText(range)}/${prefixLength}`
  const warnings: string[] = []
  if (formatIP(address.bytes) !== networkText(range)) {
    const single = `${formatIP(address.bytes)}/${address.family === 4 ? 32 : 128}`
    const meant = `should be ${goQuote(network)} or ${goQuote(single)}?`
    warnings.push(`${path}: CIDR value ${goQuote(text)} is ambiguous in this context (${meant})`)
  }
  if (nonStandard || bits !== String(prefixLength)) {
    warnings.push(
      `${path}: non-standard CIDR value ${goQuote(text)} will be considered invalid in a future Kubernetes release: use ${goQuote(network)}`,
    )
  }
  if (warnings.length === 0 && address.family === 6 && text !== network)
    warnings.push(`${path}: IPv6 CIDR value ${goQuote(text)} should be in RFC 5952 canonical format (${goQuote(network)})`)
  return warnings
}

/** Leading zeros, or an IPv4 address in an IPv6 notation. */
function isNonStandard({ family, bytes }: IpAddress, text: string): boolean {
  return family === 4 && (bytes.length > 4 || !plainV4.test(text))
}

/** The first address of the range. */
function networkText({ address, prefixLength }: { readonly address: IpAddress; readonly prefixLength: number }): string {
  const { family } = address
  const bytes = family === 4 ? address.bytes.slice(-4) : address.bytes
  const length = family === 4 ? prefixLength - (address.bytes.length - 4) * 8 : prefixLength
  const size = 1n << BigInt(bytes.length * 8 - Math.max(0, length))
  const first = (toBigInt(bytes) / size) * size
  return family === 4 ? formatV4(Number(first)) : formatV6(first)
}
