import { fakeClock } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { ByteBoundedCache, estimateBytes } from './byte-bounded-cache.ts'

describe('ByteBoundedCache', () => {
  it('evicts the oldest entries when the byte limit is reached', () => {
    const cache = new ByteBoundedCache<string>({ maxBytes: 2000, weigh: () => 98 })
    for (let i = 0; i < 100; i++) cache.set(`key${i % 10}${i}`.slice(0, 3), `value ${i}`)
    cache.clear()
    for (const key of 'abcdefghijklm') cache.set(key, key)
    // Each entry costs 96 bytes, plus 2 for the key and 98 for the value.
    expect(cache.count).toBe(10)
    expect(cache.bytes).toBe(1960)
    expect([cache.get('c'), cache.get('d'), cache.get('m')]).toEqual([undefined, 'd', 'm'])
  })

  it('stays within its byte limit and releases all bytes', () => {
    const cache = new ByteBoundedCache<string>({ maxBytes: 100_000, maxKeyLength: 100_000 })
    for (let i = 0; i < 2000; i++) {
      cache.set(`${i % 300}${'k'.repeat((i * 37) % 4000)}`, 'v'.repeat((i * 101) % 9000))
      expect(cache.bytes).toBeLessThanOrEqual(100_000)
    }
    expect(cache.bytes).toBeGreaterThan(50_000)
    for (let i = 0; i < 2000; i++) cache.delete(`${i % 300}${'k'.repeat((i * 37) % 4000)}`)
    expect([cache.count, cache.bytes]).toEqual([0, 0])
  })

  it('does not store long keys, or entries above an eighth of the limit', () => {
    const cache = new ByteBoundedCache<string>({ maxBytes: 64 * 1024 })
    cache.set('kept', 'x')
    cache.set('k'.repeat(4097), 'x')
    cache.set('large', 'x'.repeat(8 * 1024))
    expect(cache.count).toBe(1)
    expect(cache.get('k'.repeat(4097))).toBeUndefined()
  })

  it('removes the previous entry when its replacement is too large', () => {
    const cache = new ByteBoundedCache<string>({ maxBytes: 8 * 1024 })
    cache.set('a', 'old')
    cache.set('a', 'x'.repeat(8 * 1024))
    expect(cache.get('a')).toBeUndefined()
    expect(cache.bytes).toBe(0)
  })

  it('keeps entries until they expire, and removes expired ones on insertion', () => {
    const clock = fakeClock(0)
    const cache = new ByteBoundedCache<string>({ maxBytes: 8 * 1024, clock })
    cache.set('over', 'x', 0)
    expect(cache.count).toBe(0)
    cache.set('a', 'x', 100)
    cache.set('b', 'x', 100)
    clock.advance(99)
    expect(cache.get('a')).toBe('x')
    clock.advance(1)
    expect(cache.get('a')).toBeUndefined()
    expect(cache.count).toBe(1)
    cache.set('c', 'x')
    expect(cache.count).toBe(1)
    clock.advance(1e9)
    expect(cache.get('c')).toBe('x')
  })

  it('accepts objects as keys', () => {
    const key = {}
    const cache = new ByteBoundedCache<Uint8Array, object>({ maxBytes: 8192 })
    cache.set(key, new Uint8Array(500))
    expect(cache.get(key)).toHaveLength(500)
    expect(cache.bytes).toBeGreaterThan(500)
  })
})

describe('estimateBytes', () => {
  it('grows with the content of a value', () => {
    expect(estimateBytes('x'.repeat(1000))).toBeGreaterThanOrEqual(2000)
    expect(estimateBytes(['x'.repeat(1000), 'y'.repeat(1000)])).toBeGreaterThanOrEqual(4000)
    expect(estimateBytes({ ['n'.repeat(1000)]: { a: 'x'.repeat(1000) } })).toBeGreaterThanOrEqual(4000)
    expect(estimateBytes(Array.from({ length: 1000 }, () => null))).toBeGreaterThanOrEqual(8000)
    let deep: unknown = 'x'
    for (let i = 0; i < 100_000; i++) deep = [deep]
    expect(estimateBytes(deep)).toBe(Number.POSITIVE_INFINITY)
    expect([estimateBytes(undefined), estimateBytes(true)]).toEqual([8, 8])
  })
})
