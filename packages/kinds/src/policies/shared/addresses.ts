/** Addresses that traffic is sent to. */
import { isValidIP, parseIP } from '@krmkit/meta'
import type { Place } from './place.ts'

/** An address in its usual notation. */
export function checkServedAddress(address: string, at: Place): void {
  at.invalidAll(address, isValidIP(address))
}

/** An address that can belong to another machine: not unspecified, loopback, link-local. */
export function checkPublicAddress(address: string, at: Place): void {
  const parsed = parseIP(address)
  if (parsed === undefined) {
    at.invalid(address, 'must be a valid IP address')
    return
  }
  const { bytes, family } = parsed
  const tail = family === 4 ? bytes.subarray(bytes.length - 4) : bytes
  const [a = 0, b = 0, c = 0] = tail
  if (tail.every((byte) => byte === 0)) at.invalid(address, `may not be unspecified (${address})`)
  const loopback = family === 4 ? a === 127 : tail.subarray(0, 15).every((byte) => byte === 0) && tail[15] === 1
  if (loopback) at.invalid(address, 'may not be in the loopback range (127.0.0.0/8, ::1/128)')
  const linkLocal = family === 4 ? a === 169 && b === 254 : a === 0xfe && (b & 0xc0) === 0x80
  if (linkLocal) at.invalid(address, 'may not be in the link-local range (169.254.0.0/16, fe80::/10)')
  const multicast = family === 4 ? a === 224 && b === 0 && c === 0 : a === 0xff && (b & 0x0f) === 2
  if (multicast) at.invalid(address, 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)')
}
