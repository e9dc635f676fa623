import { describe, expect, it } from 'vitest'
import { ResettableClock, spanMs } from './test-clock.ts'

describe('spanMs', () => {
  it('adds all units', () => {
    expect(spanMs({ days: 1, hours: 1, minutes: 1, seconds: 1, milliseconds: 1 })).toBe(90_061_001)
    expect(spanMs(5)).toBe(5)
  })
})

describe('ResettableClock', () => {
  it('stops at every timer and settles there', async () => {
    const seen: string[] = []
    const clock = new ResettableClock(0, async () => {
      seen.push(`settle ${clock.now()}`)
    })
    const tick = () => {
      seen.push(`tick ${clock.now()}`)
      clock.setTimeout(tick, 400)
    }
    clock.setTimeout(tick, 400)
    clock.background.setTimeout(() => seen.push(`background ${clock.now()}`), 500)
    await clock.advance({ seconds: 1 })
    expect(seen).toEqual(['settle 0', 'tick 400', 'settle 400', 'background 500', 'tick 800', 'settle 800', 'settle 1000'])
    expect(clock.now()).toBe(1000)
  })

  it('keeps the remaining time of timers when reset', async () => {
    const clock = new ResettableClock(100, () => Promise.resolve())
    const fired: number[] = []
    const cancel = clock.setTimeout(() => fired.push(-1), 10)
    clock.setTimeout(() => fired.push(clock.now()), 20)
    clock.background.setTimeout(() => fired.push(-2), 30)
    clock.resetTo(50)
    cancel()
    await clock.advance(1000)
    expect(fired).toEqual([70])
    expect(clock.now()).toBe(1050)
  })
})
