import { fakeClock } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { storageCheck } from './storage-check.ts'

type Scope = Parameters<typeof storageCheck>[0]

function checkOf(refresh: () => Promise<void> | undefined) {
  const clock = fakeClock()
  const registry = { resourceVersion: '7', refresh } as Scope['registry']
  return { clock, check: storageCheck({ registry, clock }) }
}

it('succeeds for a store of one process, and for one that answers', async () => {
  await expect(checkOf(() => undefined).check()).resolves.toBeUndefined()
  const { check, clock } = checkOf(async () => undefined)
  await expect(check()).resolves.toBeUndefined()
  expect(clock.pending).toBe(0)
})

it('fails with the reason of the storage, or after two seconds without an answer', async () => {
  await expect(checkOf(() => Promise.reject(new Error('no member of etcd can be reached'))).check()).rejects.toThrow('no member')
  const { check, clock } = checkOf(() => new Promise(() => undefined))
  const checking = check()
  clock.advance(2000)
  await expect(checking).rejects.toThrow('the storage does not answer')
})
