import { type ApiObject, parseLabelSelector } from '@krmkit/meta'
import { parseFieldSelector } from '@krmkit/meta/selectors'
import { describe, expect, it } from 'vitest'
import type { FrozenObject, WatchRequest } from '../interfaces.ts'
import { type SampleRegistry, sampleRegistry } from '../testing/sample-registry.ts'
import type { ResourceWatch } from './watch.ts'

const { signal } = new AbortController()

function watch({ store }: SampleRegistry, request: Partial<WatchRequest> = {}): Promise<ResourceWatch> {
  return store('configmaps').watch({ namespace: 'ns', name: '', ...request }, signal)
}

const events = (stream: ResourceWatch) =>
  stream
    .take(100)
    .map((pending) => stream.select(pending))
    .filter((event) => event !== undefined)
    .map(({ type, entry, leftAt }) => `${type} ${entry.key.split('/').at(-1)}${leftAt === undefined ? '' : ' left'}`)

const labelled =
  (app: string) =>
  (current: FrozenObject | undefined): ApiObject => {
    const next = structuredClone(current) as ApiObject
    next.metadata.labels = { app }
    return next
  }

describe('watch', () => {
  it('starts with the present objects, and delivers each change once [P182]', async () => {
    const sample = sampleRegistry()
    await sample.create('configmaps', { metadata: { name: 'a' } })
    const stream = await watch(sample)
    expect(stream.takeInitial().map(({ key }) => key)).toEqual(['/core/configmaps/ns/a'])
    expect(stream.startVersion).toBe(sample.registry.resourceVersion)
    await sample.update('configmaps', { name: 'a', change: labelled('x') })
    await sample.remove('configmaps', 'a')
    expect(events(stream)).toEqual(['MODIFIED a', 'DELETED a'])
    expect(events(stream)).toEqual([])
    expect(stream.resourceVersion).toBe(sample.registry.resourceVersion)
    stream.close()
  })

  it('starts after a given version', async () => {
    const sample = sampleRegistry()
    const { object } = await sample.create('configmaps', { metadata: { name: 'a' } })
    await sample.create('configmaps', { metadata: { name: 'b' } })
    const stream = await watch(sample, { resourceVersion: object.metadata.resourceVersion })
    expect(stream.takeInitial()).toEqual([])
    expect(events(stream)).toEqual(['ADDED b'])
    stream.close()
  })

  it('reports objects that enter and leave a selection [P158]', async () => {
    const sample = sampleRegistry()
    await sample.create('configmaps', { metadata: { name: 'a', labels: { app: 'x' } } })
    const stream = await watch(sample, { labelSelector: parseLabelSelector('app=y') })
    expect(stream.takeInitial()).toEqual([])
    await sample.update('configmaps', { name: 'a', change: labelled('y') })
    await sample.update('configmaps', { name: 'a', change: labelled('z') })
    await sample.remove('configmaps', 'a')
    expect(events(stream)).toEqual(['ADDED a', 'DELETED a left'])
    stream.close()
  })

  it('receives only changes of its label or field value, and stays up to date', async () => {
    const sample = sampleRegistry()
    const byLabel = await watch(sample, { labelSelector: parseLabelSelector('app=y,tier!=x') })
    const absent = await watch(sample, { labelSelector: parseLabelSelector('app=') })
    const byField = await watch(sample, { namespace: '', fieldSelector: parseFieldSelector('metadata.name=b') })
    await sample.create('configmaps', { metadata: { name: 'a', labels: { app: 'x' } } })
    await sample.create('configmaps', { metadata: { name: 'b' } })
    for (const app of ['y', 'z']) await sample.update('configmaps', { name: 'a', change: labelled(app) })
    expect(byLabel.take(100).map(({ revision }) => revision)).toEqual([4, 5])
    expect(absent.take(100)).toEqual([])
    expect(byField.take(100).map(({ key }) => key)).toEqual(['/core/configmaps/ns/b'])
    for (const stream of [byLabel, absent, byField]) {
      expect(stream.resourceVersion).toBe(sample.registry.resourceVersion)
      stream.close()
    }
  })

  it('watches a single object', async () => {
    const sample = sampleRegistry()
    const stream = await watch(sample, { name: 'b' })
    await sample.create('configmaps', { metadata: { name: 'a' } })
    await sample.create('configmaps', { metadata: { name: 'b' } })
    expect(events(stream)).toEqual(['ADDED b'])
    stream.close()
  })

  it('refuses a compacted version with 410 [P314]', async () => {
    const sample = sampleRegistry()
    const { object } = await sample.create('configmaps', { metadata: { name: 'a' } })
    await sample.create('configmaps', { metadata: { name: 'b' } })
    await sample.storage.compact(sample.storage.revision)
    await expect(watch(sample, { resourceVersion: object.metadata.resourceVersion })).rejects.toMatchObject({
      code: 410,
      message: expect.stringContaining('too old resource version'),
    })
  })
})
