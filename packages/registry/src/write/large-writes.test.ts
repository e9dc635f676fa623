import { setImmediate } from 'node:timers/promises'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { CachedObject } from '../cache/object-cache.ts'
import { sampleRegistry } from '../testing/sample-registry.ts'

const data = (length: number, value: string) => Object.fromEntries(Array.from({ length }, (_, i) => [`k${i}`, value]))

/** Number of turns of the event loop while `work` runs. */
async function turnsOf(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const count = async () => {
    for (; !isOver; await setImmediate()) turns++
  }
  void count()
  await work()
  isOver = true
  return turns
}

/** A registry and the cached objects of the events that its watchers have received. */
function watchedRegistry() {
  const sample = sampleRegistry()
  const watcher = sample.storage.watch({ prefix: '/core/configmaps/', from: sample.storage.revision })
  const seen: unknown[] = []
  watcher.onReady = () => {
    for (const { entry } of watcher.take()) seen.push((entry.memo as CachedObject).object)
  }
  return { ...sample, seen }
}

describe('the write of a large object', () => {
  it('gives watchers the written object, which they need not parse', async () => {
    const { create, seen } = watchedRegistry()
    const { object } = await create('configmaps', { metadata: { name: 'a' }, data: data(5000, 'v') })
    expect(seen).toHaveLength(1)
    expect(seen[0]).toBe(object)
    expect(Object.isFrozen((object as ApiObject & { data: object }).data)).toBe(true)
  })

  it.each([5, 5000])('gives watchers the deleted object too, with %d members', async (members) => {
    const { create, remove, seen } = watchedRegistry()
    await create('configmaps', { metadata: { name: 'a', finalizers: ['example.com/hold'] }, data: data(members, 'v') })
    const marked = await remove('configmaps', 'a')
    await create('configmaps', { metadata: { name: 'b' }, data: data(members, 'v') })
    const removed = await remove('configmaps', 'b')
    await setImmediate()
    expect(seen).toHaveLength(4)
    expect(seen[1]).toBe(marked.object)
    expect(seen[3]).toBe(removed.object)
    expect([marked, removed].every(({ object }) => Object.isFrozen((object as ApiObject & { data: object }).data))).toBe(true)
  })
})

describe('the deletion of a large object', () => {
  it.each(['configmaps', 'namespaces'])('is interrupted, for %s', async (resource) => {
    const { create, remove } = sampleRegistry()
    const object = (name: string, members: number) => ({ metadata: { name, labels: data(members, 'v') } })
    await create(resource, object('small', 5))
    await create(resource, object('large', 5000))
    expect(await turnsOf(() => remove(resource, 'small'))).toBe(1)
    expect(await turnsOf(() => remove(resource, 'large'))).toBeGreaterThan(1)
  })
})
