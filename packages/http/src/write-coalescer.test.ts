import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { WriteCoalescer } from './write-coalescer.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A flush that takes the given time. */
const flushOf = (milliseconds: number) =>
  vi.fn(() => {
    elapsed += milliseconds
  })

let elapsed = 0
beforeEach(() => {
  elapsed = 0
  const real = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => real() + elapsed)
})

/** Flushes to many streams that take the given time together. */
const scheduleMany = (coalescer: WriteCoalescer, milliseconds: number) => {
  for (let n = 0; n < 32; n++) coalescer.schedule(flushOf(milliseconds / 32))
}

describe('WriteCoalescer', () => {
  it('flushes at the end of the turn when flushes are cheap', () => {
    const coalescer = new WriteCoalescer()
    for (let round = 0; round < 3; round++) {
      const flush = flushOf(0.1)
      coalescer.schedule(flush)
      expect(flush).not.toHaveBeenCalled()
      vi.advanceTimersByTime(0)
      expect(flush).toHaveBeenCalledTimes(1)
    }
  })

  it('rests after an expensive flush to many streams, so that events of the meantime are sent together', () => {
    const coalescer = new WriteCoalescer()
    scheduleMany(coalescer, 2)
    vi.advanceTimersByTime(0)
    const [first, second] = [flushOf(0), flushOf(0)]
    coalescer.schedule(first)
    vi.advanceTimersByTime(3)
    coalescer.schedule(second)
    expect(first).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(first).toHaveBeenCalledTimes(1)
    expect(second).toHaveBeenCalledTimes(1)
  })

  it('does not rest after a flush to few streams', () => {
    const coalescer = new WriteCoalescer()
    coalescer.schedule(flushOf(10))
    vi.advanceTimersByTime(0)
    const flush = flushOf(0)
    coalescer.schedule(flush)
    vi.advanceTimersByTime(0)
    expect(flush).toHaveBeenCalledTimes(1)
  })

  it('never rests longer than five milliseconds', () => {
    const coalescer = new WriteCoalescer()
    scheduleMany(coalescer, 100)
    vi.advanceTimersByTime(0)
    const flush = flushOf(0)
    coalescer.schedule(flush)
    vi.advanceTimersByTime(5)
    expect(flush).toHaveBeenCalledTimes(1)
  })

  it('shares the joined bytes of equal pieces', () => {
    const coalescer = new WriteCoalescer()
    const [a, b] = [Uint8Array.of(97), Uint8Array.of(98)]
    const joined = coalescer.join([a, b], 'chunk')
    expect(Buffer.from(joined).toString()).toBe('2\r\nab\r\n')
    expect(coalescer.join([a, b], 'chunk')).toBe(joined)
    expect(coalescer.join([a], 'chunk')).not.toBe(joined)
  })
})
