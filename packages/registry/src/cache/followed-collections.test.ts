import { memoryStorage } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import { sampleRegistry } from '../testing/sample-registry.ts'
import { FollowedCollections } from './followed-collections.ts'
import { encodeStored, ObjectCache } from './object-cache.ts'

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
  it('lists one namespace or all, and follows changes', async () => {
    const { put, names } = await sample()
    await put('a', 'one')
    await put('b', 'two')
    expect(await names('a')).toEqual(['one'])
    expect(await names('')).toEqual(['one', 'two'])
    await put('a', 'three')
    expect(await names('a')).toEqual(['one', 'three'])
    expect(await names('')).toEqual(['one', 'three', 'two'])
  })

  it('returns the same array until the collection changes', async () => {
    const { collections, definition, put } = await sample()
    await put('a', 'one')
    expect(await collections.list(definition, 'a')).toBe(await collections.list(definition, 'a'))
  })

  it('returns one shared empty list, also for a namespace whose name is a prefix of another', async () => {
    const { collections, definition, put } = await sample()
    await put('abc', 'one')
    expect(await collections.list(definition, 'ab')).toHaveLength(0)
    expect(await collections.list(definition, 'made-up')).toBe(await collections.list(definition, 'ab'))
  })
})
