import type { Entry } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import { FrameCache } from './frame-cache.ts'

const entryOf = (bytes: number): Entry => ({ key: '/a', value: new Uint8Array(bytes), revision: 1, created: 1 }) as Entry

describe('FrameCache', () => {
  it('encodes an event once for all watchers', () => {
    const cache = new FrameCache()
    const entry = entryOf(10)
    const frame = cache.get('ADDED', entry, () => new Uint8Array(20))
    expect(cache.get('ADDED', entry, () => new Uint8Array(20))).toBe(frame)
    expect(cache.get('MODIFIED', entry, () => new Uint8Array(20))).not.toBe(frame)
  })

  it('remembers frames of large objects by their bytes', () => {
    const cache = new FrameCache()
    const entries = Array.from({ length: 40 }, () => entryOf(500_000))
    for (const entry of entries) cache.get('ADDED', entry, () => new Uint8Array(500_000))
    let made = 0
    for (const entry of entries) {
      cache.get('ADDED', entry, () => {
        made++
        return new Uint8Array(500_000)
      })
    }
    expect(made).toBeGreaterThanOrEqual(32)
  })
})
