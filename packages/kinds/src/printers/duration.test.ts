import { describe, expect, it } from 'vitest'
import { humanDuration, since } from './duration.ts'

const s = 1000
const m = 60 * s
const h = 60 * m
const d = 24 * h
const y = 365 * d

describe('human durations', () => {
  it.each([
    [-3 * s, '<invalid>'],
    [-2 * s, '<invalid>'],
    [-1999, '0s'],
    [-1, '0s'],
    [0, '0s'],
    [999, '0s'],
    [1 * s, '1s'],
    [119 * s, '119s'],
    [2 * m, '2m'],
    [2 * m + s, '2m1s'],
    [9 * m + 59 * s, '9m59s'],
    [10 * m, '10m'],
    [10 * m + 59 * s, '10m'],
    [179 * m + 59 * s, '179m'],
    [3 * h, '3h'],
    [3 * h + m, '3h1m'],
    [7 * h + 59 * m, '7h59m'],
    [8 * h, '8h'],
    [47 * h + 59 * m, '47h'],
    [2 * d, '2d'],
    [2 * d + h, '2d1h'],
    [7 * d + 23 * h, '7d23h'],
    [8 * d, '8d'],
    [2 * y - h, '729d'],
    [2 * y, '2y'],
    [2 * y + d, '2y1d'],
    [8 * y - h, '7y364d'],
    [8 * y, '8y'],
    [100 * y + 5 * d, '100y'],
  ])('prints %d ms as %s', (ms, text) => {
    expect(humanDuration(ms)).toBe(text)
  })

  it('counts from a time, which may be absent', () => {
    const now = Date.parse('2024-05-01T10:00:00Z')
    expect(since('2024-05-01T09:58:00Z', now)).toBe('2m')
    expect(since('2024-05-01T09:59:59.500001Z', now)).toBe('0s')
    expect([since(null, now), since(undefined, now), since('soon', now)]).toEqual(['<unknown>', '<unknown>', '<unknown>'])
  })
})
