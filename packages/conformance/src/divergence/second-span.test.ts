import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { SecondSpan, withoutSplit } from './second-span.ts'

describe('a span of seconds', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_000_400 })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('is split by the second that begins in it, however short it is', () => {
    const span = new SecondSpan()
    vi.setSystemTime(1_000_999)
    expect(span.isSplit).toBe(false)
    vi.setSystemTime(1_001_000)
    expect(span.isSplit).toBe(true)
  })
})

describe('a run that a second may have split', () => {
  const runs = (...results: readonly (readonly [string, boolean])[]) => {
    let runs = 0
    return async () => {
      const [result, isSplit] = results[runs++] ?? ['too many', false]
      return { result, isSplit }
    }
  }
  const isSuspect = (result: string) => result !== 'equal'

  it('is repeated until no second splits it', async () => {
    const run = runs(['differs', true], ['differs', true], ['differs otherwise', false], ['equal', false])
    expect(await withoutSplit(run, isSuspect)).toEqual({ first: 'differs', last: 'differs otherwise' })
  })

  it('is repeated until its result is no longer suspect', async () => {
    expect(await withoutSplit(runs(['differs', true], ['equal', true]), isSuspect)).toEqual({ first: 'differs', last: 'equal' })
  })

  it('counts at once when nothing is suspect, or no second splits it', async () => {
    expect(await withoutSplit(runs(['equal', true]), isSuspect)).toEqual({ first: 'equal', last: 'equal' })
    expect(await withoutSplit(runs(['differs', false]), isSuspect)).toEqual({ first: 'differs', last: 'differs' })
  })

  it('counts after eight repetitions', async () => {
    const run = runs(...Array.from({ length: 9 }, (_, i) => [`differs ${i}`, true] as const))
    expect(await withoutSplit(run, isSuspect)).toEqual({ first: 'differs 0', last: 'differs 8' })
  })
})
