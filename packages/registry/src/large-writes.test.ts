import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { CachedObject } from './object-cache.ts'
import { sampleRegistry } from './testing/sample-registry.ts'

const data = (length: number, value: string) => Object.fromEntries(Array.from({ length }, (_, i) => [`k${i}`, value]))

describe('the write of a large object', () => {
  it('gives watchers the written object, which they need not parse', async () => {
    const { create, storage } = sampleRegistry()
    const watcher = storage.watch({ prefix: '/core/configmaps/', from: storage.revision })
    const seen: unknown[] = []
    watcher.onReady = () => {
      for (const event of watcher.take()) if (event.type === 'put') seen.push((event.entry.memo as CachedObject).object)
    }
    const { object } = await create('configmaps', { metadata: { name: 'a' }, data: data(5000, 'v') })
    watcher.close()
    expect(seen).toHaveLength(1)
    expect(seen[0]).toBe(object)
    expect(Object.isFrozen((object as ApiObject & { data: object }).data)).toBe(true)
  })
})
