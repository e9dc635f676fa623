import { describe, expect, it } from 'vitest'
import { RetryAfter } from './retry-after.ts'

/** The Retry-After once the given number of requests has been rejected in each second. */
function after(counts: readonly number[]): number {
  const retry = new RetryAfter()
  for (const [second, count] of counts.entries()) for (let i = 0; i < count; i++) retry.rejected(1000 * (second + 100))
  return retry.seconds
}

describe('Retry-After', () => {
  it('starts at 1 second, regardless of the number of rejections within it', () => {
    expect(new RetryAfter().seconds).toBe(1)
    expect(after([1000])).toBe(1)
  })

  it('doubles while many requests are rejected, up to 32 seconds', () => {
    expect(after([3, 1])).toBe(2)
    expect(after([10, 10, 10, 10])).toBe(4)
    expect(after(new Array<number>(200).fill(10))).toBe(32)
  })

  it('decreases by 1 when few requests are rejected', () => {
    expect(after([2, 1])).toBe(1)
    expect(after([10, 10, 10, 10, 0, 0, 0, 0, 1, 1])).toBeLessThan(4)
  })
})
