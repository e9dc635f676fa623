import { crc32 } from '@krmkit/base/crc32'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { combineCrc32 } from './combine-crc32.ts'

const ascii = (text: string) => new TextEncoder().encode(text)

describe('combineCrc32', () => {
  it('combines the checksums of two parts', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (a, b) => {
        const both = Uint8Array.of(...a, ...b)
        expect(combineCrc32(crc32(a), crc32(b), b.length)).toBe(crc32(both))
      }),
    )
  })

  it('combines with a large second part', () => {
    const more = new Uint8Array(3_000_001).fill(7)
    const both = Buffer.concat([ascii('first'), more])
    expect(combineCrc32(crc32(ascii('first')), crc32(more), more.length)).toBe(crc32(both))
  })
})
