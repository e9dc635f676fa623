import { memoryStorage } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import { FollowedCollections } from './followed-collections.ts'
import { encodeStored, ObjectCache } from './object-cache.ts'
import { sampleRegistry } from './testing/sample-registry.ts'

async function sample() {
  const storage = memoryStorage()
  const definition = sampleRegistry().definition('configmaps')
  const collections = new FollowedCollections(storage, new ObjectCache())
  const put = async (namespace: string, name: string) => {
    const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, namespace } }
    await storage.put(`/core/configmaps/${namespace}/${name}`, () => encodeStored(object), { expect: 0 })
  }
  const names = async (namespace: string) => (await collections.list(definition, namespace)).map(({ metadata }) => metadata.name)
  return { definition, collections, put, names }
}

describe('FollowedCollections', () => {
  it('list one namespace or all, and follow changes', async () => {
    const { put, names } = await sample()
    await put('a', 'one')
    await put('b', 'two')
    expect(await names('a')).toEqual(['one'])
    expect(await names('')).toEqual(['one', 'two'])
    await put('a', 'three')
    expect(await names('a')).toEqual(['one', 'three'])
    expect(await names('')).toEqual(['one', 'three', 'two'])
  })

  it('give the same list as long as nothing changes', async () => {
    const { collections, definition, put } = await sample()
    await put('a', 'one')
    expect(await collections.list(definition, 'a')).toBe(await collections.list(definition, 'a'))
  })

  it('give one empty list for all namespaces without objects, also for one whose name is the beginning of another', async () => {
    const { collections, definition, put } = await sample()
    await put('abc', 'one')
    expect(await collections.list(definition, 'ab')).toHaveLength(0)
    expect(await collections.list(definition, 'made-up')).toBe(await collections.list(definition, 'ab'))
  })
})
