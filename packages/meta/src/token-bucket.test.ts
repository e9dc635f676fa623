import { expect, it } from 'vitest'
import { fakeClock } from './clock.ts'
import { TokenBucket } from './token-bucket.ts'

it('lets a burst through, then keeps to the pace; what was saved is never more than a burst', () => {
  const clock = fakeClock()
  const bucket = new TokenBucket({ perSecond: 10, burst: 2 }, clock)
  expect([1, 2, 3, 4].map(() => bucket.reserve())).toEqual([0, 0, 100, 200])
  clock.advance(200)
  expect(bucket.reserve()).toBe(100)
  clock.advance(60_000)
  expect([1, 2, 3].map(() => bucket.reserve())).toEqual([0, 0, 100])
})

it('a clock that goes back takes nothing away', () => {
  let now = 1000
  const bucket = new TokenBucket({ perSecond: 10, burst: 1 }, { now: () => now })
  expect(bucket.reserve()).toBe(0)
  now = 0
  expect(bucket.reserve()).toBe(100)
})
