import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { sampleRegistry } from '../testing/sample-registry.ts'

const ranges = { group: '', resource: 'limitranges' }
const maps = { group: '', resource: 'configmaps' }
const names = (objects: readonly { readonly metadata: { readonly name?: string } }[]) =>
  objects.map(({ metadata }) => metadata.name)

describe('reads of plugins', () => {
  it.each([['limitranges'], ['configmaps']])('%s in the order of names, as they are at that moment', async (resource) => {
    const { registry, create, update, remove } = sampleRegistry()
    const list = async (namespace?: string) => names(await registry.reader.list({ group: '', resource }, namespace))
    expect(await list()).toEqual([])
    await create(resource, { metadata: { name: 'b' } })
    await create(resource, { metadata: { name: 'a' } })
    expect([await list(), await list('ns'), await list('n'), await list('other')]).toEqual([['a', 'b'], ['a', 'b'], [], []])
    await update(resource, {
      name: 'a',
      change: (current) => ({
        ...(structuredClone(current) as ApiObject),
        metadata: { ...current?.metadata, labels: { x: 'y' } } as never,
      }),
    })
    expect((await registry.reader.list({ group: '', resource }, 'ns'))[0]?.metadata.labels).toEqual({ x: 'y' })
    await remove(resource, 'a')
    expect(await list('ns')).toEqual(['b'])
  })

  it('sees objects stored before the first read', async () => {
    const { registry, create } = sampleRegistry()
    await create('limitranges', { metadata: { name: 'a' } })
    const [first, second] = await Promise.all([registry.reader.list(ranges, 'ns'), registry.reader.list(ranges, 'ns')])
    expect([names(first), names(second)]).toEqual([['a'], ['a']])
    expect(registry.reader.get(ranges, 'ns', 'a')).toBe(first[0])
  })

  it('answers synchronously when the collection is in memory', async () => {
    const { registry, create } = sampleRegistry()
    const { reader } = registry
    expect([reader.listNow?.(ranges), reader.listNow?.(maps)]).toEqual([undefined, undefined])
    await reader.list(ranges)
    expect([reader.listNow?.(ranges), reader.listNow?.(ranges, 'ns')]).toEqual([[], []])
    await create('limitranges', { metadata: { name: 'a' } })
    expect(names(reader.listNow?.(ranges) ?? [])).toEqual(['a'])
    expect(reader.listNow?.(ranges, 'ns')).toEqual(await reader.list(ranges, 'ns'))
    expect([reader.listNow?.(ranges, 'n'), reader.listNow?.(maps, 'ns')]).toEqual([[], undefined])
  })

  it('finds no objects of resources that are not served', async () => {
    const { registry } = sampleRegistry()
    const none = { group: 'example.com', resource: 'widgets' }
    expect(registry.reader.get(none, 'ns', 'a')).toBeUndefined()
    expect(await registry.reader.list(none)).toEqual([])
    expect(registry.reader.resourcesOf?.({ group: 'example.com', version: 'v1', kind: 'Widget' })).toEqual([])
  })

  it('finds the resources of a kind', () => {
    const { registry } = sampleRegistry()
    expect(registry.reader.resourcesOf?.({ group: 'apps', version: 'v1', kind: 'Deployment' })).toEqual([
      { group: 'apps', version: 'v1', resource: 'deployments', namespaced: true },
    ])
  })
})
