import type { Entry, StorageEvent } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import { FrameCache, FrameCaches } from './frame-cache.ts'

const entryOf = (bytes: number): Entry => ({ key: '/a', value: new Uint8Array(bytes), revision: 1, created: 1 }) as Entry

describe('FrameCache', () => {
  it('encodes an event once for all watchers', () => {
    const cache = new FrameCache()
    const entry = entryOf(10)
    const frame = cache.get('ADDED', entry, () => new Uint8Array(20))
    expect(cache.get('ADDED', entry, () => new Uint8Array(20))).toBe(frame)
    expect(cache.get('MODIFIED', entry, () => new Uint8Array(20))).not.toBe(frame)
  })

  it('encodes a large event once for all watchers that wait for it', async () => {
    const cache = new FrameCache()
    const entry = entryOf(10)
    let made = 0
    const make = async () => Uint8Array.of(++made)
    const [first, second] = await Promise.all([cache.get('ADDED', entry, make), cache.get('ADDED', entry, make)])
    expect(second).toBe(first)
    expect(cache.get('ADDED', entry, make)).toBe(first)
    expect(made).toBe(1)
  })

  it('encodes an event again after a failure', async () => {
    const cache = new FrameCache()
    const entry = entryOf(10)
    await expect(cache.get('ADDED', entry, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(cache.get('ADDED', entry, () => Uint8Array.of(1))).toEqual(Uint8Array.of(1))
  })

  it('bounds cached frames by bytes', () => {
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

  it('joins frames once for all watchers that send them together', () => {
    const cache = new FrameCache()
    const frames = [Uint8Array.of(1), Uint8Array.of(2, 3)]
    const chunks = cache.join(frames)
    expect(chunks).toEqual([Buffer.from([1, 2, 3])])
    expect(cache.join([...frames])).toBe(chunks)
    expect(cache.join([...frames, Uint8Array.of(4)])).toEqual([Buffer.from([1, 2, 3, 4])])
    expect(cache.join([])).toEqual([])
  })

  it('creates the chunks of a batch once for all watchers', () => {
    const cache = new FrameCache()
    const event = (): StorageEvent => ({ type: 'put', key: '/a', revision: 1, entry: entryOf(10) }) as StorageEvent
    const [first, second] = [event(), event()]
    let made = 0
    const make = () => {
      made++
      return [Uint8Array.of(made)]
    }
    const chunks = cache.batch([first, second], make)
    expect(cache.batch([first, second], make)).toBe(chunks)
    expect(cache.batch([first], make)).toEqual([Uint8Array.of(2)])
    expect(cache.batch([first, event()], make)).toEqual([Uint8Array.of(3)])
    expect(cache.batch([], make)).toEqual([Uint8Array.of(4)])
  })

  it('keeps the frames of representations apart', () => {
    const caches = new FrameCaches()
    const json = caches.of({ encoding: 'json', pretty: false })
    expect(caches.of({ encoding: 'json', pretty: false })).toBe(json)
    expect(caches.of({ encoding: 'protobuf', pretty: false })).not.toBe(json)
    const transform = { as: 'PartialObjectMetadata', version: 'v1' } as const
    expect(caches.of({ encoding: 'json', transform, pretty: false })).not.toBe(json)
  })

  it('ends a chunk at 64 KiB and does not copy single frames', () => {
    const cache = new FrameCache()
    const [large, small] = [new Uint8Array(70_000), Uint8Array.of(1)]
    expect(cache.join([large])[0]).toBe(large)
    expect(cache.join([large, small])[0]).toBe(large)
    expect(cache.join([small, large, small]).map((chunk) => chunk.byteLength)).toEqual([70_001, 1])
  })
})
