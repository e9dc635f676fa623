import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { crc32, crc32AfterMore, crc32ByTable } from './crc32.ts'

const ascii = (text: string) => new TextEncoder().encode(text)

describe('crc32', () => {
  it('gives the published check value', () => {
    expect(crc32(ascii('123456789'))).toBe(0xcbf43926)
    expect(crc32ByTable(ascii('123456789'))).toBe(0xcbf43926)
    expect(crc32ByTable(ascii(''))).toBe(0)
  })

  it('of two stretches follows from theirs', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (a, b) => {
        const both = Uint8Array.of(...a, ...b)
        expect(crc32AfterMore(crc32(a), crc32(b), b.length)).toBe(crc32ByTable(both))
      }),
    )
  })

  it('of two stretches, the second a large one', () => {
    const more = new Uint8Array(3_000_001).fill(7)
    const both = Buffer.concat([ascii('first'), more])
    expect(crc32AfterMore(crc32(ascii('first')), crc32(more), more.length)).toBe(crc32(both))
  })
})
