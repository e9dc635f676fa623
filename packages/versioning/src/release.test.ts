import { describe, expect, it } from 'vitest'
import { compareReleases, monthsBetween, releasesBetween } from './release.ts'

describe('releases', () => {
  it('compare numerically', () => {
    expect(compareReleases('1.9', '1.10')).toBeLessThan(0)
    expect(compareReleases('v1.33.2', '1.33')).toBe(0)
    expect(compareReleases('2.0', '1.99')).toBeGreaterThan(0)
  })

  it('are counted within a major release', () => {
    expect(releasesBetween('1.19', '1.22')).toBe(3)
    expect(releasesBetween('1.99', '2.0')).toBe(Number.POSITIVE_INFINITY)
  })

  it('are months apart by the calendar, or else by four months per release', () => {
    expect(monthsBetween('1.30', '1.33')).toBe(12)
    expect(monthsBetween('1.30', '1.31', { '1.30': '2024-04-17', '1.31': '2024-08-13' })).toBeCloseTo(3.9, 1)
    expect(monthsBetween('1.30', '1.31', { '1.30': '2024-04-17', '1.31': 'soon' })).toBe(4)
  })

  it.each(['', '1', '1.x', 'one', '1.33beta'])('rejects %j', (text) => {
    expect(() => compareReleases(text, '1.33')).toThrow(expect.objectContaining({ code: 'InvalidRelease' }))
  })
})
