import { fakeClock } from '@krmkit/meta'
import { memoryStorage, type Storage, type StorageWatchOptions } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import type { FrozenObject } from '../interfaces.ts'
import { sampleRegistry } from '../testing/sample-registry.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

/** Records what a follower delivers. */
function recorder() {
  const calls: string[] = []
  const nameOf = ({ metadata }: FrozenObject) => metadata.name ?? ''
  const sink = {
    put: (object: FrozenObject) => void calls.push(`put ${nameOf(object)}`),
    remove: (object: FrozenObject) => void calls.push(`remove ${nameOf(object)}`),
    clear: () => void calls.push('clear'),
  }
  return { calls, sink }
}

/** A storage whose watchers overflow after two pending events. */
function narrow(storage: Storage): Storage {
  return new Proxy(storage, {
    get(target, member) {
      if (member === 'watch') return (options: StorageWatchOptions) => target.watch({ ...options, maxPending: 2 })
      const value = Reflect.get(target, member) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

describe('follow', () => {
  it('delivers the present objects, and then each change', async () => {
    const { create, remove, store } = sampleRegistry()
    const { calls, sink } = recorder()
    await create('configmaps', { metadata: { name: 'a' } })
    const following = await store('configmaps').follow(sink, { signal: new AbortController().signal })
    expect(calls).toEqual(['put a'])
    await create('configmaps', { metadata: { name: 'b' } })
    await remove('configmaps', 'a')
    following.catchUp()
    expect(calls).toEqual(['put a', 'put b', 'remove a'])
  })

  it('delivers without catchUp on a later turn', async () => {
    const { create, store } = sampleRegistry()
    const { calls, sink } = recorder()
    await store('configmaps').follow(sink, { signal: new AbortController().signal, changesOnly: true })
    await create('configmaps', { metadata: { name: 'a' } })
    await nextTurn()
    await nextTurn()
    expect(calls).toEqual(['put a'])
  })

  it('skips the present objects on request', async () => {
    const { create, store } = sampleRegistry()
    const { calls, sink } = recorder()
    await create('configmaps', { metadata: { name: 'a' } })
    await store('configmaps').follow(sink, { signal: new AbortController().signal, changesOnly: true })
    expect(calls).toEqual([])
  })

  it('clears and reads again after lost events', async () => {
    const clock = fakeClock(Date.UTC(2024, 0, 1))
    const { store, storage } = sampleRegistry({ storage: narrow(memoryStorage({ clock })) })
    const { calls, sink } = recorder()
    const following = await store('configmaps').follow(sink, { signal: new AbortController().signal })
    const document = (name: string) =>
      JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, namespace: 'ns' } })
    await Promise.all(
      ['a', 'b', 'c'].map((name) => storage.put(`/core/configmaps/ns/${name}`, () => Buffer.from(document(name)))),
    )
    await following.caughtUp()
    expect(calls.slice(calls.indexOf('clear'))).toEqual(['clear', 'put a', 'put b', 'put c'])
  })

  it('ends with its signal', async () => {
    const { create, store } = sampleRegistry()
    const { calls, sink } = recorder()
    const ending = new AbortController()
    const following = await store('configmaps').follow(sink, { signal: ending.signal })
    ending.abort()
    await create('configmaps', { metadata: { name: 'a' } })
    following.catchUp()
    await nextTurn()
    expect(calls).toEqual([])
  })
})
