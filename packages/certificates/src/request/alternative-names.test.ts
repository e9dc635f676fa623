import { isIPv6 } from 'node:net'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type AlternativeNames, noAlternativeNames, readAlternativeNames, writeAlternativeNames } from './alternative-names.ts'

const through = (names: Partial<AlternativeNames>) =>
  readAlternativeNames(writeAlternativeNames({ ...noAlternativeNames, ...names }))

it('reads back written names [P98]', () => {
  const names = {
    dns: ['a.b', '*.c'],
    emails: ['a@b.c'],
    ips: ['10.0.0.1', '::1', '::', '1:2::'],
    uris: ['spiffe://a/b', 'urn:x'],
  }
  expect(through(names)).toEqual(names)
  expect(through({ ips: ['0:0:0:0:0:0:0:1', '::ffff:10.0.0.1', '1:0:0:2:0:0:0:3', 'FD00::7'] }).ips).toEqual([
    '::1',
    '10.0.0.1',
    '1:0:0:2::3',
    'fd00::7',
  ])
})

it('rejects invalid IP addresses [P106]', () => {
  for (const ip of [
    '',
    '1.2.3',
    '1.2.3.256',
    '1.2.3.4.5',
    ':',
    ':::',
    '1::2::3',
    'fe80::1%eth0',
    '1:2:3:4:5:6:7',
    '::1.2.3',
    'g::',
  ])
    expect(() => through({ ips: [ip] }), ip).toThrow(expect.objectContaining({ code: 'Malformed' }))
})

it('reads back every IPv6 address [P98]', () => {
  const sparse = fc.array(fc.constantFrom(0, 0, 0, 1, 255, 65_535), { minLength: 8, maxLength: 8 })
  fc.assert(
    fc.property(sparse, (groups) => {
      fc.pre(!/^(0,){5}65535,/.test(groups.join()))
      const text = groups.map((group) => group.toString(16)).join(':')
      const [read = ''] = through({ ips: [text] }).ips
      expect(isIPv6(read)).toBe(true)
      expect(new URL(`http://[${text}]`).hostname).toBe(`[${read}]`)
    }),
  )
})
