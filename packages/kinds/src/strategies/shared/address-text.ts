/** IP addresses as numbers, and their canonical text. */
import { formatIP } from '@krmkit/base/ip'

/** The number that big-endian bytes stand for. */
export function toBigInt(bytes: Uint8Array): bigint {
  let value = 0n
  for (const byte of bytes) value = (value << 8n) | BigInt(byte)
  return value
}

/** Dotted decimal notation. */
export function formatV4(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`
}

/** The text of an IPv6 address. */
export function formatV6(value: bigint): string {
  return formatIP(Uint8Array.from({ length: 16 }, (_, i) => Number((value >> BigInt(120 - i * 8)) & 0xffn)))
}
