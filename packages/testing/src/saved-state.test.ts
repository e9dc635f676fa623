import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pods } from './controllers/workloads.fixture.ts'
import { configMaps } from './resources.fixture.ts'
import { createTestServer } from './test-server.ts'

interface Workload extends ApiObject {
  spec?: object
  rules?: object[]
}

const deployments = resourceType<Workload>({ group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment' })
const roles = resourceType<Workload>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  resource: 'clusterroles',
  kind: 'ClusterRole',
  namespaced: false,
})

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'krmkit-state-'))
})
afterAll(() => rm(folder, { recursive: true }))

const metadata = { name: 'web', namespace: 'default' }
const withoutVersion = ({ metadata: { resourceVersion: _, ...rest }, ...object }: ApiObject) => ({ ...object, metadata: rest })

describe('saved state', () => {
  it('is restored exactly, with UIDs, owners and the time of the clock', async () => {
    const path = join(folder, 'cluster')
    await using server = await createTestServer({ cluster: { nodes: 2 } })
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'web' }] } }
    const spec = { replicas: 2, selector: { matchLabels: { app: 'web' } }, template }
    await server.client.create(deployments, { metadata, spec })
    await server.clock.advance('1h')
    await server.save(path)
    await using same = await createTestServer({ cluster: { nodes: 2 }, from: path })
    await same.settle()
    expect(same.clock.now()).toBe(server.clock.now())
    for (const resource of [deployments, pods]) {
      const [before, after] = await Promise.all(
        [server, same].map(async ({ client }) => (await client.list<ApiObject>(resource, { namespace: 'default' })).items),
      )
      expect(before?.length).toBeGreaterThan(0)
      expect(after?.map(withoutVersion)).toEqual(before?.map(withoutVersion))
    }
    await same.client.delete(deployments, 'web', { namespace: 'default' })
    await same.clock.advance('1m')
    expect((await same.client.list(pods, { namespace: 'default' })).items).toEqual([])
  })

  it('has one file per object, named after its key', async () => {
    const path = join(folder, 'files')
    await using server = await createTestServer({ controllers: [] })
    await server.client.create(configMaps, { metadata, data: { color: 'red' } })
    await server.client.create(roles, { metadata: { name: 'a:Role' }, rules: [] })
    await server.save(path)
    expect(await readFile(join(path, 'core/configmaps/default/web.json'), 'utf8')).toContain('"color": "red"')
    expect(await readdir(join(path, 'rbac.authorization.k8s.io/clusterroles'))).toContain('a%3A%52ole.json')
    await server.client.delete(configMaps, 'web', { namespace: 'default' })
    await server.save(path)
    await using same = await createTestServer({
      controllers: [],
      from: path,
      seed: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' } }],
    })
    expect((await same.client.list(configMaps, { namespace: 'default' })).items.map((each) => each.metadata.name)).toEqual(['b'])
    expect((await same.client.get(roles, 'a:Role')).metadata.name).toBe('a:Role')
  })

  it('never overwrites other files, and is not read from other folders', async () => {
    const path = join(folder, 'other')
    await using server = await createTestServer({ controllers: [] })
    await server.save(path)
    await rm(join(path, 'krmkit-state'))
    await expect(server.save(path)).rejects.toMatchObject({
      code: 'InvalidState',
      message: expect.stringContaining('other files'),
    })
    const reading = { code: 'InvalidState', message: expect.stringContaining('`seed` reads manifests') }
    await expect(createTestServer({ from: path })).rejects.toMatchObject(reading)
    await writeFile(join(path, 'krmkit-state'), '{"format":2}')
    await expect(createTestServer({ from: path })).rejects.toMatchObject({ message: expect.stringContaining('unknown format') })
    await server.save(join(folder, 'malformed'))
    await writeFile(join(folder, 'malformed/core/a.json'), '{')
    const malformed = { code: 'InvalidState', message: expect.stringContaining('a.json') }
    await expect(createTestServer({ from: join(folder, 'malformed') })).rejects.toMatchObject(malformed)
  })
})
