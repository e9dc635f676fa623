import type { StoredObject } from '@krmkit/authorization'
import { fakeClock } from '@krmkit/meta'
import { memoryStorage, type Storage, type StorageWatchOptions } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import { sampleServer } from '../testing/sample-server.ts'
import { storeFeed } from './store-feed.ts'

const configMaps = { group: '', resource: 'configmaps' }
const path = '/api/v1/namespaces/default/configmaps'
const named = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

/** A store whose watches buffer few events. */
function narrow(storage: Storage): Storage {
  return new Proxy(storage, {
    get(target, member) {
      if (member === 'watch') return (options: StorageWatchOptions) => target.watch({ ...options, maxPending: 2 })
      const value = Reflect.get(target, member) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

async function followed(storage: Storage) {
  const sample = await sampleServer({ storage })
  const known = new Set<string>()
  const deliveries: string[] = []
  const nameOf = ({ metadata }: StoredObject) => metadata.name ?? ''
  const sink = {
    put: (object: StoredObject) => {
      deliveries.push(`put ${nameOf(object)}`)
      known.add(nameOf(object))
    },
    remove: (object: StoredObject) => {
      deliveries.push(`remove ${nameOf(object)}`)
      known.delete(nameOf(object))
    },
    clear: () => {
      deliveries.push('clear')
      known.clear()
    },
  }
  const closing = new AbortController()
  const feed = storeFeed({ registry: sample.server.registry, closing: closing.signal, onError: () => undefined })
  return { ...sample, feed, sink, known, deliveries, closing }
}

describe('storeFeed', () => {
  it('delivers existing objects, and pending changes on catchUp', async () => {
    const { ask, feed, sink, deliveries } = await followed(memoryStorage({ clock: fakeClock(0) }))
    await ask(path, { method: 'POST', body: named('a') })
    const catchUp = await feed.follow(configMaps, sink)
    await ask(path, { method: 'POST', body: named('b') })
    await ask(`${path}/a`, { method: 'DELETE' })
    catchUp?.()
    catchUp?.()
    expect(deliveries).toEqual(['put a', 'put b', 'remove a'])
  })

  it('bounds pending events between calls of catchUp', async () => {
    const { ask, feed, sink, known } = await followed(memoryStorage({ clock: fakeClock(0) }))
    await feed.follow(configMaps, sink)
    await ask(path, { method: 'POST', body: named('a') })
    await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setImmediate(resolve))
    expect([...known]).toEqual(['a'])
  })

  it('clears the sink after missed events, then delivers all objects again', async () => {
    const { storage, feed, sink, known, deliveries } = await followed(narrow(memoryStorage({ clock: fakeClock(0) })))
    const catchUp = await feed.follow(configMaps, sink)
    // All within one turn of the event loop, so that the follower cannot read in between.
    const writes = ['a', 'b', 'c', 'd'].map((name) =>
      storage.put(`/core/configmaps/default/${name}`, () => Buffer.from(JSON.stringify(named(name)))),
    )
    await writes.at(-1)
    catchUp?.()
    expect(deliveries.at(-1)).toBe('clear')
    expect(known.size).toBe(0)
    await Promise.all(writes)
    await expect.poll(() => [...known].sort(), { interval: 1 }).toEqual(['a', 'b', 'c', 'd'])
  })

  it('returns undefined for a resource that is not served, and ends when the server closes', async () => {
    const { ask, feed, sink, deliveries, closing } = await followed(memoryStorage({ clock: fakeClock(0) }))
    expect(await feed.follow({ group: 'example.com', resource: 'widgets' }, sink)).toBeUndefined()
    const catchUp = await feed.follow(configMaps, sink)
    closing.abort()
    await ask(path, { method: 'POST', body: named('a') })
    catchUp?.()
    expect(deliveries).toEqual([])
  })
})
