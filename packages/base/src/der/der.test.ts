import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bitString,
  boolean,
  DerReader,
  directoryString,
  integer,
  isDerError,
  oid,
  readBitString,
  readBoolean,
  readOid,
  readSmallInteger,
  readText,
  sequence,
  tags,
  writePem,
} from './index.ts'

describe('DER', () => {
  it('reads back what it writes', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 40), fc.boolean(), fc.string(), fc.uint8Array({ maxLength: 300 }), (number, flag, text, bytes) => {
        const written = sequence(integer(number), boolean(flag), directoryString(text), bitString(bytes), oid('1.2.840.113549.1'))
        const reader = new DerReader(written, 'test').into(tags.sequence)
        expect(readSmallInteger(reader.next(tags.integer), 'test')).toBe(number)
        expect(readBoolean(reader.next(tags.boolean), 'test')).toBe(flag)
        expect(readText(reader.next(), 'test')).toBe(Buffer.from(text).toString())
        expect([...readBitString(reader.next(tags.bitString), 'test')]).toEqual([...bytes])
        expect(readOid(reader.next(tags.oid), 'test')).toBe('1.2.840.113549.1')
        reader.end()
      }),
    )
  })

  it.each([
    ['an indefinite length', [0x30, 0x80, 0x00, 0x00]],
    ['a non-minimal length', [0x30, 0x81, 0x01, 0x05]],
    ['leading zeros in the length', [0x30, 0x82, 0x00, 0x80]],
    ['truncated data', [0x30, 0x05, 0x01]],
    ['a multi-byte tag', [0x1f, 0x81, 0x01, 0x00]],
  ])('rejects %s', (_, bytes) => {
    let thrown: unknown
    try {
      new DerReader(Uint8Array.from(bytes), 'test').next()
    } catch (error) {
      thrown = error
    }
    expect(isDerError(thrown)).toBe(true)
  })

  it('writes PEM with lines of 64 characters', () => {
    const lines = writePem('TEST', new Uint8Array(60)).split('\n')
    expect(lines.map(({ length }) => length)).toEqual([20, 64, 16, 18, 0])
    expect(lines[0]).toBe('-----BEGIN TEST-----')
  })
})
