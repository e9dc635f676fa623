import type { ApiObject } from '@krmkit/meta'
import { memoryStorage, type Storage } from '@krmkit/storage'
import { expect, it } from 'vitest'
import { sampleRegistry } from './testing/sample-registry.ts'

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
  const proxy = new Proxy(storage, {
    get(target, member) {
      if (member === 'put') return put
      const value = Reflect.get(target, member) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return { storage: proxy, frozen }
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
