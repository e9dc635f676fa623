import { networkInterfaces } from 'node:os'
import { parseCIDR, parseIP } from '@krmkit/base/ip'
import type { ServeOptions } from './serve-options.ts'

/** The DNS names and IP addresses of the serving certificate. */
export function certificateHosts(options: ServeOptions): string[] {
  const { bindAddress, advertiseAddress, externalHostname, serviceClusterIpRange } = options
  const hosts = [bindAddress, advertiseAddress, externalHostname].filter(
    (host) => host !== undefined && !isWildcard(host),
  ) as string[]
  if (isWildcard(bindAddress)) hosts.push(...ownAddresses())
  for (const range of serviceClusterIpRange.split(',')) hosts.push(firstAddress(range))
  return [...new Set(hosts)]
}

/** The `host:port` that discovery advertises. */
export function advertised(options: ServeOptions, port: number): string {
  const { externalHostname, advertiseAddress, bindAddress } = options
  const host =
    externalHostname ?? advertiseAddress ?? (isWildcard(bindAddress) ? (ownAddresses()[0] ?? '127.0.0.1') : bindAddress)
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** The IP address under which pods reach the server; undefined when there are only loopback addresses. */
export function clusterAddress({ advertiseAddress, bindAddress }: ServeOptions): string | undefined {
  const wanted = advertiseAddress ?? bindAddress
  const parsed = parseIP(wanted)
  const isUsable = parsed !== undefined && !isWildcard(wanted) && !isLoopback(wanted)
  return isUsable ? wanted : ownAddresses()[0]
}

/** The first usable address of a range: the cluster IP of the service `kubernetes`. */
export function firstAddress(range: string): string {
  const { address, prefixLength } = parseCIDR(range)!
  const bytes = [...address.bytes]
  for (let bit = prefixLength; bit < bytes.length * 8; bit++) bytes[bit >> 3]! &= ~(0x80 >> (bit & 7))
  for (let i = bytes.length - 1; i >= 0; i--) {
    bytes[i] = (bytes[i]! + 1) & 0xff
    if (bytes[i] !== 0) break
  }
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i]! << 8) | bytes[2 * i + 1]!).toString(16))
  return groups.join(':')
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

function isLoopback(host: string): boolean {
  return host === '::1' || host.startsWith('127.')
}

function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return all
    .filter(({ internal, address }) => !internal && !address.includes('%') && !address.startsWith('fe80:'))
    .map(({ address }) => address)
}
