import { describe, expect, it } from 'vitest'
import { parseCIDR, parseIP } from './ip.ts'

describe('IP addresses', () => {
  it('parses addresses to bytes', () => {
    expect(parseIP('10.01.2.255')).toEqual({ bytes: Uint8Array.of(10, 1, 2, 255), family: 4 })
    expect(parseIP('1::a:0102')?.bytes).toEqual(Uint8Array.of(0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 1, 2))
    expect(parseIP('2001:db8::1')?.family).toBe(6)
  })

  it('treats IPv4-mapped IPv6 addresses as IPv4', () => {
    expect(parseIP('::ffff:1.2.3.4')?.family).toBe(4)
    expect(parseIP('::ffff:102:304')?.family).toBe(4)
    expect(parseIP('::1.2.3.4')?.family).toBe(6)
  })

  it('keeps the written address of a CIDR', () => {
    expect(parseCIDR('10.1.2.3/8')).toEqual({ address: { bytes: Uint8Array.of(10, 1, 2, 3), family: 4 }, prefixLength: 8 })
    expect(parseCIDR('::/128')?.prefixLength).toBe(128)
    expect(parseCIDR('1.2.3.4/0008')).toBeUndefined()
  })
})
