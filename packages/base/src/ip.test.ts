import { describe, expect, it } from 'vitest'
import { canonicalIP, connectableHost, formatIP, parseCIDR, parseIP } from './ip.ts'

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

  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['0177.0.0.1', '177.0.0.1'],
    ['127.000.000.001', '127.0.0.1'],
    ['::ffff:0177.0.0.1', '177.0.0.1'],
    ['::FFFF:7f00:1', '127.0.0.1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['2001:DB8:0:0:1:0:0:0', '2001:db8:0:0:1::'],
    ['1:0:2:0:3:0:4:0', '1:0:2:0:3:0:4:0'],
    ['::', '::'],
    ['fe80::1%lo', undefined],
    ['2130706433', undefined],
    ['0x7f.1', undefined],
    ['localhost', undefined],
  ])('prints %s canonically as %s [P152]', (text, canonical) => {
    expect(canonicalIP(text)).toBe(canonical)
    const bytes = parseIP(text)?.bytes
    expect(bytes && formatIP(bytes)).toBe(canonical)
  })

  it.each<[string, string | undefined]>([
    ['10.0.0.1', '10.0.0.1'],
    ['2001:DB8::01', '2001:db8::1'],
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['fe80::1%eth0', 'fe80::1%eth0'],
    ['node-1.example.com', 'node-1.example.com'],
    ['node_1.example.com.', 'node_1.example.com.'],
    ['1.example', '1.example'],
  ])('%s connects to %s [P152]', (text, host) => {
    expect(connectableHost(text)).toBe(host)
  })

  it.each([
    ...[
      '0177.0.0.1',
      '127.000.000.001',
      '127.0.0.1.',
      '127.1',
      '0177.1',
      '0x7f.1',
      '0x7f000001',
      '2130706433',
      '0X',
      '1.2.3.4.5',
    ],
    ...['::ffff:0177.0.0.1', '::1%', '::1%a/b', '10.0.0.1%lo', '[::1]', '', '.', 'a..b', 'a b', 'a/b', 'a@b', 'a:80', 'ｅ.com'],
  ])('refuses to connect to %j [P152]', (text) => {
    expect(connectableHost(text)).toBeUndefined()
  })
})
