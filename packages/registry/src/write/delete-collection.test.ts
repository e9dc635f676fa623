import { expect, it } from 'vitest'
import { sampleRegistry } from '../testing/sample-registry.ts'

it('objects are deleted in order up to the first that does not meet a precondition', async () => {
  const { create, context, store, stored } = sampleRegistry()
  for (const name of ['b', 'c', 'a']) await create('configmaps', { metadata: { name } })
  const removed = async (uid: string | undefined) => {
    const options = { preconditions: { uid: uid ?? '' } }
    await expect(store('configmaps').deleteCollection(context(), { namespace: 'ns', options })).rejects.toMatchObject({
      code: 409,
    })
    return ['a', 'b', 'c'].filter((name) => stored('configmaps', name) === undefined)
  }
  expect(await removed(stored('configmaps', 'b')?.metadata.uid)).toEqual([])
  expect(await removed(stored('configmaps', 'a')?.metadata.uid)).toEqual(['a'])
})
