import type { ApiObject } from '@krmkit/meta'
import { memoryStorage, type Storage } from '@krmkit/storage'
import { expect, it, vi } from 'vitest'
import { encodeStored } from '../cache/object-cache.ts'
import { sampleRegistry } from '../testing/sample-registry.ts'

/** A storage with another `put`. */
function withPut(storage: Storage, put: Storage['put']): Storage {
  return new Proxy(storage, {
    get(target, member) {
      if (member === 'put') return put
      const value = Reflect.get(target, member) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** A storage that records whether the object of a write is frozen once it is encoded, when watchers may read it. */
function observed(storage: Storage) {
  const frozen: boolean[] = []
  const put: Storage['put'] = (key, encode, options) =>
    storage.put(
      key,
      (revision) => {
        const bytes = encode(revision)
        const memo = options?.memo as { readonly object?: ApiObject } | undefined
        frozen.push(memo?.object !== undefined && Object.isFrozen(memo.object) && Object.isFrozen(memo.object.metadata.labels))
        return bytes
      },
      options,
    )
  return { storage: withPut(storage, put), frozen }
}

it('freezes small objects before watchers can read them', async () => {
  const { storage, frozen } = observed(memoryStorage())
  const { create, update } = sampleRegistry({ storage })
  await create('configmaps', { metadata: { name: 'a', labels: { a: 'b' } } })
  await update('configmaps', {
    name: 'a',
    change: (current) => {
      const next = structuredClone(current) as ApiObject
      next.metadata.labels = { a: 'c' }
      return next
    },
  })
  expect(frozen).toEqual([true, true])
})

it.each([
  ['small', 'x'],
  ['large', 'x'.repeat(200_000)],
])('encodes a %s object once where the store learns the revision later', async (_size, value) => {
  const memory = memoryStorage()
  const stringify = vi.spyOn(JSON, 'stringify')
  const calls: number[] = []
  const storage = withPut(memory, (key, encode, options) => {
    encode(0)
    return memory.put(
      key,
      (revision) => {
        stringify.mockClear()
        const bytes = encode(revision)
        calls.push(stringify.mock.calls.length)
        return bytes
      },
      options,
    )
  })
  const { create } = sampleRegistry({ storage })
  try {
    const { object, entry } = await create('configmaps', { metadata: { name: 'a' }, data: { value } })
    expect(calls).toEqual([0])
    expect(object.metadata.resourceVersion).toBe(String(entry?.revision))
    expect(entry?.value).toEqual(encodeStored(object))
  } finally {
    stringify.mockRestore()
  }
})
