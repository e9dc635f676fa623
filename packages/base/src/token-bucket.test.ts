import { fakeClock } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { TokenBucket } from './token-bucket.ts'

it('TokenBucket allows a burst, then the rate, and never saves more than a burst', () => {
  const clock = fakeClock()
  const bucket = new TokenBucket({ perSecond: 10, burst: 2 }, clock)
  expect([1, 2, 3, 4].map(() => bucket.reserve())).toEqual([0, 0, 100, 200])
  clock.advance(200)
  expect(bucket.reserve()).toBe(100)
  clock.advance(60_000)
  expect([1, 2, 3].map(() => bucket.reserve())).toEqual([0, 0, 100])
})

it('TokenBucket loses no tokens when the clock goes back', () => {
  let now = 1000
  const bucket = new TokenBucket({ perSecond: 10, burst: 1 }, { now: () => now })
  expect(bucket.reserve()).toBe(0)
  now = 0
  expect(bucket.reserve()).toBe(100)
})

it('TokenBucket.take succeeds only while tokens are available', () => {
  const clock = fakeClock()
  const bucket = new TokenBucket({ perSecond: 10, burst: 2 }, clock)
  expect([1, 2, 3].map(() => bucket.take())).toEqual([true, true, false])
  clock.advance(99)
  expect(bucket.take()).toBe(false)
  clock.advance(1)
  expect([bucket.take(), bucket.take()]).toEqual([true, false])
})
