/** Endpoint addresses. */
import { parseIP } from '@krmkit/base/ip'
import type { FieldPath } from './field-path.ts'

/** Index of the first byte that is not zero. */
function firstSet(bytes: Uint8Array, start: number): number {
  let at = start
  while (at < bytes.length && bytes[at] === 0) at++
  return at
}

/** An address of another machine: not unspecified, loopback or link-local. */
export function validatePublicAddress(address: string, at: FieldPath): void {
  const parsed = parseIP(address)
  if (parsed === undefined) {
    at.invalid(address, 'must be a valid IP address')
    return
  }
  const { bytes, family } = parsed
  const start = family === 4 ? bytes.length - 4 : 0
  const last = bytes.length - 1
  const [a, b, c] = [bytes[start] ?? 0, bytes[start + 1] ?? 0, bytes[start + 2] ?? 0]
  const onlyLast = firstSet(bytes, start) >= last
  if (onlyLast && bytes[last] === 0) at.invalid(address, `may not be unspecified (${address})`)
  const loopback = family === 4 ? a === 127 : onlyLast && bytes[last] === 1
  if (loopback) at.invalid(address, 'may not be in the loopback range (127.0.0.0/8, ::1/128)')
  const linkLocal = family === 4 ? a === 169 && b === 254 : a === 0xfe && (b & 0xc0) === 0x80
  if (linkLocal) at.invalid(address, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)')
  const multicast = family === 4 ? a === 224 && b === 0 && c === 0 : a === 0xff && (b & 0x0f) === 2
  if (multicast) at.invalid(address, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)')
}
