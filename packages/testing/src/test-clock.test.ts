import { describe, expect, it } from 'vitest'
import { ResettableClock, spanMs } from './test-clock.ts'

describe('spanMs', () => {
  it('adds all units', () => {
    expect(spanMs({ days: 1, hours: 1, minutes: 1, seconds: 1, milliseconds: 1 })).toBe(90_061_001)
    expect(spanMs(5)).toBe(5)
  })

  it.each([
    ['1h', 3_600_000],
    ['1h30m', 5_400_000],
    ['1.5s', 1500],
    ['250ms', 250],
    ['0', 0],
  ])('parses the duration %s', (text, ms) => expect(spanMs(text)).toBe(ms))

  it.each([
    ['no unit', '5', 'missing unit in duration'],
    ['an unknown unit', '1d', 'unknown unit'],
    ['no duration', 'tomorrow', 'invalid duration'],
    ['an empty text', '', 'invalid duration'],
    ['the past', '-1h', 'time cannot go back'],
    ['the past', -1, 'time cannot go back'],
    ['the past', { hours: 1, minutes: -61 }, 'time cannot go back'],
    ['no number', Number.NaN, 'not a number'],
    ['an infinite number', Number.POSITIVE_INFINITY, 'not a number'],
    ['an unknown part', { hour: 1 }, 'unknown part "hour"; known parts: days, hours, minutes, seconds, milliseconds'],
    ['a part that is no number', { hours: '1' }, 'hours is not a number'],
    ['nothing', undefined, 'not a duration'],
    ['null', null, 'not a duration'],
    ['a date', new Date(5), 'not a duration'],
  ])('rejects %s: %j', (_, span, message) => {
    const invalid = { code: 'InvalidDuration', message: expect.stringContaining(message) }
    expect(() => spanMs(span as number)).toThrow(expect.objectContaining(invalid))
  })
})

describe('ResettableClock', () => {
  it('stops and settles at every timer', async () => {
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

  it('advances by a duration given as text, and rejects an invalid one', async () => {
    const clock = new ResettableClock(0, () => Promise.resolve())
    await clock.advance('1h')
    expect(clock.now()).toBe(3_600_000)
    await expect(clock.advance('soon')).rejects.toMatchObject({ code: 'InvalidDuration' })
    expect(clock.now()).toBe(3_600_000)
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
