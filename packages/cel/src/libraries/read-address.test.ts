import { describe, expect, it } from 'vitest'
import { readAddress } from './read-address.ts'

const outcome = (text: string): string => {
  try {
    const { bytes, zone } = readAddress(text)
    return `${Buffer.from(bytes).toString('hex')}${zone === undefined ? '' : `%${zone}`}`
  } catch (error) {
    return (error as Error).message
  }
}

describe('addresses', () => {
  it.each([
    ['10.0.0.1', '0a000001'],
    ['::', '0'.repeat(32)],
    ['1::', `0001${'0'.repeat(28)}`],
    ['::1', `${'0'.repeat(31)}1`],
    ['::1.2.3.4', `${'0'.repeat(24)}01020304`],
    ['1:2:3:4:5:6:7:8', '00010002000300040005000600070008'],
    ['fe80::1%eth0', `fe80${'0'.repeat(27)}1%eth0`],
  ])('reads %s', (text, bytes) => expect(outcome(text)).toBe(bytes))

  it.each([
    ['', 'unable to parse IP'],
    ['a', 'unable to parse IP'],
    ['%a:', 'missing IPv6 address'],
    ['::%', 'zone must be a non-empty string'],
    ['1.2.3', 'IPv4 address too short'],
    ['1.2.3.4.5', 'IPv4 address too long'],
    ['1..3.4', 'IPv4 field must have at least one digit (at ".3.4")'],
    ['1.2.3.', 'IPv4 field must have at least one digit (at ".")'],
    ['01.2.3.4', 'IPv4 field has octet with leading zero'],
    ['256.1.1.1', 'IPv4 field has value >255'],
    ['1.2.3.x', 'unexpected character (at "x")'],
    ['https://a', 'each colon-separated field must have at least one digit (at "https://a")'],
    [':1', 'each colon-separated field must have at least one digit (at ":1")'],
    ['12345::', 'each group must have 4 or less digits (at "12345::")'],
    ['1:', 'colon must be followed by more characters (at ":")'],
    ['1:2', 'address string too short'],
    ['1:x', 'each colon-separated field must have at least one digit (at "x")'],
    ['1x:', 'unexpected character, want colon (at "x:")'],
    ['1::2::3', 'multiple :: in address (at ":3")'],
    ['1:1.2.3.4', 'embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")'],
    ['::1:2:3:4:5:6:7:1.2.3.4', 'too many hex fields to fit an embedded IPv4 at the end of the address (at "1.2.3.4")'],
    ['1:2:3:4:5:6:7:8:9', 'trailing garbage after address (at "9")'],
    ['::1:2:3:4:5:6:7:8', 'the :: must expand to at least one field of zeros'],
    ['1:2:3:4:5:6:7::8', 'the :: must expand to at least one field of zeros'],
  ])('rejects %j: %s', (text, problem) => expect(outcome(text)).toBe(problem))
})
