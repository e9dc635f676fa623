import { describe, expect, it } from 'vitest'
import { EventCorrelator } from './event-correlator.ts'

const minuteMs = 60_000

function setup() {
  let nowMs = 0
  const correlator = new EventCorrelator({ now: () => nowMs })
  const observe = (message: string, more: { readonly object?: string; readonly type?: string } = {}) => {
    const { object = 'a', type = 'Normal' } = more
    const observed = correlator.observe({ object, type, reason: 'Created', message, fieldPath: '' })
    observed?.named(observed.name ?? `event of ${message}`)
    return observed === undefined ? undefined : [observed.message, observed.count, observed.name]
  }
  const advance = (ms: number) => {
    nowMs += ms
  }
  return { observe, advance }
}

describe('EventCorrelator', () => {
  it('counts repeated events of an object', () => {
    const { observe, advance } = setup()
    expect(observe('pod x')).toEqual(['pod x', 1, undefined])
    advance(60 * minuteMs)
    expect(observe('pod x')).toEqual(['pod x', 2, 'event of pod x'])
    expect(observe('pod x', { object: 'b' })).toEqual(['pod x', 1, undefined])
  })

  it('combines the tenth event that differs only in its message, and those after it', () => {
    const { observe, advance } = setup()
    for (let i = 1; i < 10; i++) expect(observe(`pod ${i}`)?.[0]).toBe(`pod ${i}`)
    expect(observe('pod 10')).toEqual(['(combined from similar events): pod 10', 1, undefined])
    expect(observe('pod 11')).toEqual(['(combined from similar events): pod 11', 2, 'event of pod 10'])
    advance(10 * minuteMs)
    expect(observe('pod 12')?.[1]).toBe(3)
    advance(10 * minuteMs + 1)
    expect(observe('pod 13')).toEqual(['pod 13', 1, undefined])
  })

  it('drops events of an object after 25, but one every five minutes', () => {
    const { observe, advance } = setup()
    for (let i = 1; i <= 25; i++) expect(observe('again')?.[1]).toBe(i)
    expect(observe('again')).toBeUndefined()
    expect(observe('again', { type: 'Warning' })?.[1]).toBe(1)
    expect(observe('again', { object: 'b' })?.[1]).toBe(1)
    advance(5 * minuteMs)
    expect(observe('again')?.[1]).toBe(27)
    expect(observe('again')).toBeUndefined()
  })
})
