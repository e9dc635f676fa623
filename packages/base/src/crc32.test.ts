import { describe, expect, it } from 'vitest'
import { crc32, crc32ByTable } from './crc32.ts'

describe('crc32', () => {
  it('has the check value of CRC-32, also with the table', () => {
    const [all, first, rest] = ['123456789', '1234', '56789'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer]
    for (const compute of [crc32, crc32ByTable]) {
      expect([compute(all), compute(rest, compute(first))]).toEqual([0xcbf43926, 0xcbf43926])
    }
  })
})
