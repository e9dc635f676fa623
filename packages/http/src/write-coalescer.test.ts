import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type CoalescedStream, WriteCoalescer } from './write-coalescer.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

let elapsed = 0
beforeEach(() => {
  elapsed = 0
  const real = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => real() + elapsed)
})

/** A stream with pending data, whose flush takes the given time. */
const streamOf = (milliseconds: number) => ({
  collect: vi.fn(),
  flush: vi.fn(() => {
    elapsed += milliseconds
    return true
  }),
  resume: vi.fn(),
})

/** Streams whose flushes take the given time together. */
const scheduleMany = (coalescer: WriteCoalescer, milliseconds: number, count = 32) => {
  const streams = Array.from({ length: count }, () => streamOf(milliseconds / count))
  for (const stream of streams) coalescer.schedule(stream)
  return streams
}

describe('WriteCoalescer', () => {
  it('flushes at the end of the turn when flushes are cheap', async () => {
    const coalescer = new WriteCoalescer()
    for (let round = 0; round < 3; round++) {
      const stream = streamOf(0.1)
      coalescer.schedule(stream)
      expect(stream.flush).not.toHaveBeenCalled()
      await vi.advanceTimersByTimeAsync(0)
      expect(stream.flush).toHaveBeenCalledTimes(1)
      expect(stream.resume).toHaveBeenCalledTimes(1)
    }
  })

  it('rests after an expensive flush to many streams, so that events during the rest are sent together', async () => {
    const coalescer = new WriteCoalescer()
    const many = scheduleMany(coalescer, 4 / 3)
    await vi.advanceTimersByTimeAsync(0)
    const [first, second] = [streamOf(0), streamOf(0)]
    coalescer.schedule(first)
    await vi.advanceTimersByTimeAsync(3)
    coalescer.schedule(second)
    expect(first.flush).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(first.flush).toHaveBeenCalledTimes(1)
    expect(second.flush).toHaveBeenCalledTimes(1)
    expect(many.map(({ flush }) => flush.mock.calls.length)).toEqual(many.map(() => 2))
  })

  it('lets streams pull again only after the rest', async () => {
    const coalescer = new WriteCoalescer()
    const many = scheduleMany(coalescer, 4 / 3)
    await vi.advanceTimersByTimeAsync(0)
    for (const { collect, flush, resume } of many) {
      expect(collect).toHaveBeenCalledTimes(1)
      expect(resume).not.toHaveBeenCalled()
      flush.mockReturnValue(false)
    }
    await vi.advanceTimersByTimeAsync(4)
    for (const { collect, resume } of many) {
      expect(collect).toHaveBeenCalledTimes(2)
      expect(resume).toHaveBeenCalledTimes(1)
    }
  })

  it('writes data that arrives without waiting after `collect`', async () => {
    const coalescer = new WriteCoalescer()
    const order: string[] = []
    const arriving = async () => {
      for (let hop = 0; hop < 10; hop++) await undefined
      order.push('arrived')
    }
    const stream: CoalescedStream = {
      collect: () => void arriving(),
      flush: () => order.push('flushed') > 0,
      resume: () => order.push('resumed'),
    }
    coalescer.schedule(stream)
    await vi.advanceTimersByTimeAsync(0)
    expect(order).toEqual(['arrived', 'flushed', 'resumed'])
  })

  it('serves other input between the flushes of very many streams', async () => {
    const coalescer = new WriteCoalescer()
    const many = scheduleMany(coalescer, 0, 600)
    const seen: number[] = []
    const serve = () => {
      const flushed = many.filter(({ flush }) => flush.mock.calls.length > 0).length
      seen.push(flushed)
      if (flushed < many.length) setTimeout(serve, 0)
    }
    setTimeout(serve, 0)
    for (let turn = 0; turn < 5; turn++) await vi.advanceTimersByTimeAsync(1)
    expect(seen).toContain(256)
    expect(seen.at(-1)).toBe(600)
  })

  it('does not rest after a flush to few streams', async () => {
    const coalescer = new WriteCoalescer()
    coalescer.schedule(streamOf(10))
    await vi.advanceTimersByTimeAsync(0)
    const stream = streamOf(0)
    coalescer.schedule(stream)
    await vi.advanceTimersByTimeAsync(0)
    expect(stream.flush).toHaveBeenCalledTimes(1)
  })

  it.each([
    { flushMs: 5, restMs: 6 },
    { flushMs: 20, restMs: 10 },
    { flushMs: 100, restMs: 25 },
  ])('rests for $restMs ms after a flush of $flushMs ms', async ({ flushMs, restMs }) => {
    const coalescer = new WriteCoalescer()
    scheduleMany(coalescer, flushMs)
    await vi.advanceTimersByTimeAsync(0)
    const stream = streamOf(0)
    coalescer.schedule(stream)
    await vi.advanceTimersByTimeAsync(restMs - 1)
    expect(stream.flush).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(stream.flush).toHaveBeenCalledTimes(1)
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
