import { describe, expect, it, vi } from 'vitest'
import { ByteQueue } from './byte-queue.ts'

describe('a queue of bytes', () => {
  it('returns what was added, in order', () => {
    const queue = new ByteQueue()
    const seen: Buffer[] = []
    for (let i = 0; i < 1000; i++) {
      queue.push(Buffer.from([i & 0xff, i >> 8, 7].slice(0, 1 + (i % 3))))
      if (i % 5 === 0) seen.push(queue.take(i % 11))
    }
    seen.push(queue.take(10_000))
    const expected = Array.from({ length: 1000 }, (_, i) => Buffer.from([i & 0xff, i >> 8, 7].slice(0, 1 + (i % 3))))
    expect(Buffer.concat(seen).equals(Buffer.concat(expected))).toBe(true)
    expect([queue.length, queue.peek(1), queue.take(5).length]).toEqual([0, undefined, 0])
  })

  it('copies each byte a constant number of times', () => {
    const copy = vi.spyOn(Buffer.prototype, 'copy')
    const queue = new ByteQueue()
    for (let i = 0; i < 20_000; i++) queue.push(Buffer.alloc(10))
    const copied = copy.mock.results.reduce((sum, { value }) => sum + Number(value), 0)
    copy.mockRestore()
    expect(queue.length).toBe(200_000)
    expect(copied).toBeLessThan(4 * 200_000)
  })
})
