import * as zlib from 'node:zlib'

const polynomial = 0xedb88320

const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (polynomial & -(value & 1))
  return value
})

/**
 * The CRC-32 of gzip. Uses `node:zlib` from Node 20.15 on, and a table in earlier versions.
 *
 * @param start the CRC-32 of the preceding bytes
 * @example
 * import { crc32 } from '@krmkit/base/crc32'
 * crc32(Buffer.from('123456789')).toString(16) // 'cbf43926'
 * @see RFC 1952, 8
 */
export const crc32: (bytes: Uint8Array, start?: number) => number =
  typeof zlib.crc32 === 'function' ? (bytes, start = 0) => zlib.crc32(bytes, start) : crc32ByTable

/**
 * The same with a table instead of a native call, which is faster for a few bytes.
 *
 * @param end number of bytes; all by default
 * @see {@link crc32}
 */
export function crc32ByTable(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let value = ~start
  for (let at = 0; at < end; at++) value = (value >>> 8) ^ table[(value ^ bytes[at]!) & 0xff]!
  return ~value >>> 0
}
