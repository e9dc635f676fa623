import { describe, expect, it } from 'vitest'
import { addressWarnings, isPlainRange, rangeWarnings } from './address-warnings.ts'

describe('addressWarnings', () => {
  it.each([
    ['1.2.3.4', []],
    ['::1', []],
    ['x', []],
    [
      '01.2.3.4',
      ['a: non-standard IP address "01.2.3.4" will be considered invalid in a future Kubernetes release: use "1.2.3.4"'],
    ],
    [
      '::ffff:1.2.3.4',
      ['a: non-standard IP address "::ffff:1.2.3.4" will be considered invalid in a future Kubernetes release: use "1.2.3.4"'],
    ],
    ['2001:DB8::1', ['a: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")']],
  ])('warns of notations that are not canonical: %s', (text, warnings) => {
    expect(addressWarnings('a', text)).toEqual(warnings)
  })
})

describe('rangeWarnings', () => {
  it.each([
    ['10.0.0.0/8', []],
    ['::/0', []],
    ['x/1', []],
    ['10.0.0.1/8', ['a: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)']],
    [
      '010.0.0.0/8',
      ['a: non-standard CIDR value "010.0.0.0/8" will be considered invalid in a future Kubernetes release: use "10.0.0.0/8"'],
    ],
    ['2001:DB8::/32', ['a: IPv6 CIDR value "2001:DB8::/32" should be in RFC 5952 canonical format ("2001:db8::/32")']],
  ])('warns of ambiguous ranges and of notations that are not canonical: %s', (text, warnings) => {
    expect(rangeWarnings('a', text)).toEqual(warnings)
  })
})

describe('isPlainRange', () => {
  it.each(['10.0.0.0/8', '0.0.0.0/0', '255.255.255.255/32', '10.1.2.128/25'])('accepts %s, which has no warnings', (text) => {
    expect(isPlainRange(text)).toBe(true)
    expect(rangeWarnings('a', text)).toEqual([])
  })

  it.each(['10.0.0.1/8', '010.0.0.0/8', '10.0.0.0/08', '256.0.0.0/8', '10.0.0.0/33', '10.1.2.129/25', '10.0.0/8', '::/0', 'x'])(
    'leaves %s to rangeWarnings',
    (text) => expect(isPlainRange(text)).toBe(false),
  )
})
