import { describe, expect, it, vi } from 'vitest'
import { fakeClock, foregroundClock, systemClock } from './clock.ts'

describe('fakeClock', () => {
  it('calls functions ordered by due time, then by registration', () => {
    const clock = fakeClock(1000)
    const calls: [string, number][] = []
    const note = (name: string) => () => calls.push([name, clock.now()])
    clock.setTimeout(note('late'), 20)
    clock.setTimeout(note('early'), 5)
    clock.setTimeout(note('early too'), 5)
    clock.setTimeout(() => clock.setTimeout(note('nested'), 1), 10)
    const cancel = clock.setTimeout(note('never'), 6)
    cancel()
    cancel()
    expect([clock.pending, clock.nextAt]).toEqual([4, 1005])
    clock.advance(12)
    expect(calls).toEqual([
      ['early', 1005],
      ['early too', 1005],
      ['nested', 1011],
    ])
    expect(clock.now()).toBe(1012)
    clock.advanceTo(5000)
    clock.advanceTo(10)
    expect([calls.at(-1), clock.now(), clock.pending, clock.nextAt]).toEqual([['late', 1020], 5000, 0, undefined])
  })

  it('treats negative delays as zero', () => {
    const clock = fakeClock()
    const fn = vi.fn()
    clock.setTimeout(fn, -5)
    clock.advance(0)
    expect(fn).toHaveBeenCalledOnce()
  })
})

describe('system clocks', () => {
  it('run, cancel and split delays longer than the platform limit', () => {
    vi.useFakeTimers({ now: 0 })
    try {
      for (const clock of [systemClock, foregroundClock]) {
        const fn = vi.fn()
        const start = clock.now()
        clock.setTimeout(fn, 2 ** 31 + 5)
        clock.setTimeout(fn, 50)()
        vi.advanceTimersByTime(2 ** 31 + 4)
        expect(fn).not.toHaveBeenCalled()
        vi.advanceTimersByTime(1)
        expect(fn).toHaveBeenCalledOnce()
        expect(clock.now() - start).toBe(2 ** 31 + 5)
      }
    } finally {
      vi.useRealTimers()
    }
  })
})
