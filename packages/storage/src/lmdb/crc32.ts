import * as zlib from 'node:zlib'

const polynomial = 0xedb88320

const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (polynomial & -(value & 1))
  return value
})

/** CRC-32 as gzip computes it. `zlib` has it from Node 20.15. */
export const crc32: (bytes: Uint8Array, start?: number) => number =
  typeof zlib.crc32 === 'function' ? (bytes, start = 0) => zlib.crc32(bytes, start) : crc32ByTable

/** @param start the CRC-32 of the bytes before these @param end number of bytes; all by default */
export function crc32ByTable(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let value = ~start
  for (let at = 0; at < end; at++) value = (value >>> 8) ^ table[(value ^ bytes[at]!) & 0xff]!
  return ~value >>> 0
}
