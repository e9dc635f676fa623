import { describe, expect, it } from 'vitest'
import { readFormatDuration } from './format-duration.ts'

const second = 1_000_000_000n

describe('texts of the format duration', () => {
  it.each<[string, bigint | undefined]>([
    ['1h30m', 5400n * second],
    ['-5s', -5n * second],
    ['2 days', 2n * 86_400n * second],
    ['1 WEEK 1 day', 8n * 86_400n * second],
    ['P1D', 86_400n * second],
    ['-1 day', 86_400n * second],
    ['1 x 2 sec', 2n * second],
    ['5', undefined],
    ['1 x', undefined],
    ['99999999999999999999 s', undefined],
    ['', undefined],
  ])('reads %j as %s nanoseconds', (text, nanos) => {
    expect(readFormatDuration(text)).toBe(nanos)
  })

  it('reads long texts without units in linear time', () => {
    expect(readFormatDuration('1'.repeat(200_000))).toBeUndefined()
  })
})
