import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createWriter } from './object-writer.ts'
import { sampleRegistry } from './testing/sample-registry.ts'

const maps = { group: '', resource: 'configmaps' }

describe('writes of plugins', () => {
  it("run the whole write pipeline as the server's user", async () => {
    const { registry, stored } = sampleRegistry()
    const map: ApiObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { n: '0' } }
    await createWriter(registry.storeOf).create(maps, 'ns', map)
    await expect(createWriter(registry.storeOf).create(maps, 'ns', structuredClone(map))).rejects.toMatchObject({
      reason: 'AlreadyExists',
    })
    const target = { ...maps, namespace: 'ns', name: 'a', subresource: '' }
    const change = (current: unknown) => {
      const next = structuredClone(current) as ApiObject & { data: { n: string } }
      next.data.n = String(Number(next.data.n) + 1)
      return next
    }
    await Promise.all(Array.from({ length: 8 }, () => createWriter(registry.storeOf).update(target, change)))
    expect(stored('configmaps', 'a')).toMatchObject({ data: { n: '8' }, metadata: { uid: expect.any(String) } })
    expect(stored('configmaps', 'a')?.metadata.managedFields?.[0]?.manager).toBe('kube-apiserver')
  })

  it('fail like other writes', async () => {
    const { registry, create } = sampleRegistry()
    const target = { ...maps, namespace: 'ns', name: 'a', subresource: '' }
    await expect(createWriter(registry.storeOf).update(target, () => ({}) as ApiObject)).rejects.toMatchObject({
      reason: 'NotFound',
    })
    await create('configmaps', { metadata: { name: 'a' } })
    const stop = new Error('stop')
    const throwing = () => {
      throw stop
    }
    await expect(createWriter(registry.storeOf).update(target, throwing)).rejects.toBe(stop)
    const none = { group: 'example.com', resource: 'widgets' }
    await expect(createWriter(registry.storeOf).create(none, 'ns', {} as ApiObject)).rejects.toMatchObject({ code: 404 })
  })
})
