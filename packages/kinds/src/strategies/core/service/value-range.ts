/** Ranges of addresses and ports as positions, which kube-apiserver numbers in stored allocations. */
import { canonicalIP, parseCIDR, parseIP } from '@krmkit/base/ip'
import type { ServiceNetwork } from '../../../interfaces.ts'
import { formatV4, formatV6, toBigInt } from '../../shared/address-text.ts'

/** A range of values whose use is stored as a bitmap. */
export interface ValueRange {
  /** As stored: `10.0.0.0/24`, `30000-32767`. */
  readonly text: string
  /** @returns `undefined` for a value outside */
  positionOf(value: string): number | undefined
  valueAt(position: number): string
}

/** Positions of an IPv6 range that are stored; its further addresses are not assigned by it. */
const maxStoredV6 = 65_536n

/** The addresses of a CIDR; neither that of the network nor the broadcast address. @returns `undefined` when malformed */
export function addressRange(cidr: string): ValueRange | undefined {
  const parsed = parseCIDR(cidr)
  if (parsed === undefined) return undefined
  const isV4 = parsed.address.family === 4
  const bytes = isV4 ? parsed.address.bytes.slice(-4) : parsed.address.bytes
  const total = 1n << BigInt(bytes.length * 8 - parsed.prefixLength)
  const network = (toBigInt(bytes) / total) * total
  const format = (value: bigint) => (isV4 ? formatV4(Number(value)) : formatV6(value))
  const size = isV4 ? total - 2n : (total > maxStoredV6 ? maxStoredV6 : total) - 1n
  return {
    text: `${format(network)}/${parsed.prefixLength}`,
    positionOf(value) {
      const address = parseIP(value)
      if (address === undefined || (address.family === 4) !== isV4) return undefined
      const position = toBigInt(isV4 ? address.bytes.slice(-4) : address.bytes) - network - 1n
      return position >= 0n && position < size ? Number(position) : undefined
    },
    valueAt: (position) => format(network + 1n + BigInt(position)),
  }
}

/** Ports of nodes; the same port for every protocol. */
export function portRange({ from, to }: ServiceNetwork['nodePorts']): ValueRange {
  return {
    text: `${from}-${to}`,
    positionOf(value) {
      const port = Number(value)
      return port >= from && port <= to ? port - from : undefined
    },
    valueAt: (position) => String(from + position),
  }
}

/** The canonical text of an address, which names its IPAddress. */
export function canonicalAddress(text: string): string {
  return canonicalIP(text) ?? text
}
