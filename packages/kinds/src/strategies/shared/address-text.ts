/** IP addresses as numbers and as canonical text. */

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

/** Hexadecimal, with the longest run of zeros elided. */
export function formatV6(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, i) => Number((value >> BigInt(112 - i * 16)) & 0xffffn))
  let best = { at: -1, length: 1 }
  for (let i = 0; i < 8; i++) {
    let length = 0
    while (i + length < 8 && groups[i + length] === 0) length++
    if (length > best.length) best = { at: i, length }
  }
  const hex = groups.map((group) => group.toString(16))
  if (best.at < 0) return hex.join(':')
  return `${hex.slice(0, best.at).join(':')}::${hex.slice(best.at + best.length).join(':')}`
}
