import { parseLabelSelector } from '@krmkit/meta'
import { parseFieldSelector } from '@krmkit/meta/selectors'
import { memoryStorage, type StorageListOptions } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import type { ListRequest } from '../interfaces.ts'
import { type SampleRegistry, sampleRegistry } from '../testing/sample-registry.ts'

/** A registry that counts the entries its lists read. */
function countingRegistry(): SampleRegistry & { readonly counted: { entries: number } } {
  const counted = { entries: 0 }
  const storage = memoryStorage()
  const { list } = storage
  storage.list = async (options: StorageListOptions) => {
    const page = await list.call(storage, options)
    counted.entries += page.entries.length
    return page
  }
  return { ...sampleRegistry({ storage }), counted }
}

const never = new AbortController().signal
const labels = (text: string) => ({ labelSelector: parseLabelSelector(text) })
const fields = (text: string) => ({ fieldSelector: parseFieldSelector(text) })

/** Lists until the index of the selection is built. @returns names of the objects, and the number of entries read */
async function indexed(sample: ReturnType<typeof countingRegistry>, resource: string, request: Partial<ListRequest>) {
  const read = async () => {
    sample.counted.entries = 0
    const { entries } = await sample.store(resource).list({ namespace: '', ...request }, never)
    return { names: entries.map(({ key }) => key.split('/').at(-1)), entries: sample.counted.entries }
  }
  const first = await read()
  for (let turn = 0; turn < 50; turn++) {
    await read()
    await new Promise(setImmediate)
  }
  const last = await read()
  expect(last.names).toEqual(first.names)
  return last
}

describe('lists by label or field', () => {
  it('read only the entries that one required value selects', async () => {
    const sample = countingRegistry()
    const involved = (i: number) => ({ kind: 'Pod', namespace: 'ns', name: `pod-${i % 60}` })
    for (let i = 0; i < 600; i++) {
      const metadata = { name: `o-${i}`, labels: { app: 'shop', shard: `s${i % 30}` } }
      await sample.create('configmaps', { metadata })
      await sample.create('events', { metadata, involvedObject: involved(i) } as object)
    }
    expect(await indexed(sample, 'configmaps', labels('app=shop,shard in (s7),shard!=s8'))).toMatchObject({ entries: 20 })
    expect(await indexed(sample, 'configmaps', { namespace: 'ns', ...labels('shard=s7') })).toMatchObject({ entries: 20 })
    expect(await indexed(sample, 'configmaps', labels('shard=s7,app!=shop'))).toMatchObject({ names: [], entries: 20 })
    const events = fields('involvedObject.kind=Pod,involvedObject.name=pod-7')
    expect(await indexed(sample, 'events', events)).toMatchObject({ entries: 10 })
  })

  it('read the terms of a label selector in proportion to their number', async () => {
    const sample = countingRegistry()
    await sample.create('configmaps', { metadata: { name: 'a', labels: { app: 'shop' } } })
    const readTerms = async (count: number) => {
      const labelSelector = parseLabelSelector(Array.from({ length: count }, (_, i) => `k${i}!=v`).join(','))
      let reads = 0
      const requirements = new Proxy(labelSelector.requirements, {
        get: (target, name) => {
          if (typeof name === 'string' && /^\d+$/.test(name)) reads++
          return Reflect.get(target, name)
        },
      })
      Object.defineProperty(labelSelector, 'requirements', { value: requirements })
      const { entries } = await sample.store('configmaps').list({ namespace: '', labelSelector }, never)
      expect(entries).toHaveLength(1)
      return reads
    }
    expect(await readTerms(2000)).toBeLessThanOrEqual(5 * (await readTerms(500)))
  })

  it('read one namespace where a field selector names it', async () => {
    const sample = countingRegistry()
    for (const name of ['a', 'b']) {
      await sample.create('configmaps', { metadata: { name } })
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'other' } }
      await sample.store('configmaps').create(sample.context(), { namespace: 'other', object })
    }
    expect(await indexed(sample, 'configmaps', fields('metadata.namespace=ns'))).toEqual({ names: ['a', 'b'], entries: 2 })
    const request = { namespace: '', limit: 1, ...fields('metadata.namespace=ns') }
    const first = await sample.store('configmaps').list(request, never)
    expect(first.continueToken).not.toBe('')
    const second = await sample.store('configmaps').list({ ...request, continueToken: first.continueToken }, never)
    expect([...first.entries, ...second.entries].map(({ key }) => key)).toEqual([
      '/core/configmaps/ns/a',
      '/core/configmaps/ns/b',
    ])
    // Entries follow that are not selected.
    expect(second.continueToken).not.toBe('')
  })

  it('return a continue token where only entries follow that are not selected, with an index as without', async () => {
    const sample = countingRegistry()
    for (let i = 0; i < 600; i++)
      await sample.create('configmaps', { metadata: { name: `o-${1000 + i}`, labels: { early: i < 5 ? 'yes' : 'no' } } })
    const page = async () => {
      const { entries, continueToken } = await sample
        .store('configmaps')
        .list({ namespace: '', limit: 5, ...labels('early=yes') }, never)
      return [entries.length, continueToken]
    }
    const before = await page()
    await indexed(sample, 'configmaps', labels('early=yes'))
    expect(await page()).toEqual(before)
    expect(before).not.toContain('')
  })
})
