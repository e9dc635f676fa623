import { defaultAdmissionPlugins } from '@krmkit/admission'
import { resourceType } from '@krmkit/client'
import { ApiError, type ApiObject } from '@krmkit/meta'
import { createTestServer, type TestServer } from '@krmkit/testing'
import { describe, expect, it } from 'vitest'

interface Quota extends ApiObject {
  spec?: { hard?: Record<string, string>; scopes?: string[] }
  status?: { hard?: Record<string, string>; used?: Record<string, string> }
}

const core = <T extends ApiObject = ApiObject>(resource: string, kind: string) =>
  resourceType<T>({ group: '', version: 'v1', resource, kind })
const quotas = core<Quota>('resourcequotas', 'ResourceQuota')
const pods = core('pods', 'Pod')
const secrets = core('secrets', 'Secret')
const services = core('services', 'Service')
const claims = core<ApiObject & { spec: object; status?: object }>('persistentvolumeclaims', 'PersistentVolumeClaim')
const place = { namespace: 'default' }

const start = () => createTestServer({ server: { admission: defaultAdmissionPlugins } })
const pod = (name: string, spec: object = {}) => ({
  metadata: { name, ...place },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})

async function limit(server: TestServer, hard: Record<string, string>, spec: object = {}): Promise<void> {
  await server.client.create(quotas, { metadata: { name: 'q', ...place }, spec: { hard, ...spec } })
  await server.settle()
}
const used = async (server: TestServer) => {
  await server.settle()
  return (await server.client.get(quotas, 'q', place)).status?.used
}
const refusals = async (calls: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(calls)).filter((each) => each.status === 'rejected').map(({ reason }) => reason as unknown)

describe('resource quotas of a server', () => {
  it('64 concurrent creations never exceed a quota, and exhaust it [P289]', async () => {
    await using server = await start()
    await limit(server, { pods: '20' })
    const refused = await refusals(Array.from({ length: 64 }, (_, i) => server.client.create(pods, pod(`p${i}`))))
    expect(refused).toHaveLength(44)
    expect(refused.every((error) => ApiError.is(error) && error.reason === 'Forbidden')).toBe(true)
    expect((await server.client.list(pods, place)).items).toHaveLength(20)
    expect(await used(server)).toEqual({ pods: '20' })
  })

  it('concurrent creations, deletions and recounts never exceed a quota [P289]', async () => {
    await using server = await start()
    await limit(server, { pods: '5' })
    let most = 0
    const work = async (worker: number) => {
      for (let i = 0; i < 12; i++) {
        const name = `p${worker}-${i}`
        try {
          await server.client.create(pods, pod(name))
        } catch (error) {
          if (!ApiError.is(error) || error.reason !== 'Forbidden') throw error
          continue
        }
        most = Math.max(most, (await server.client.list(pods, place)).items.length)
        await server.client.delete(pods, name, { ...place, gracePeriodSeconds: 0 })
      }
    }
    await Promise.all(Array.from({ length: 16 }, (_, worker) => work(worker)))
    expect(most).toBeGreaterThan(0)
    expect(most).toBeLessThanOrEqual(5)
    expect(await used(server)).toEqual({ pods: '0' })
  })

  it('refunds charges of objects that are not stored [P289]', async () => {
    await using server = await start()
    await limit(server, { secrets: '3' })
    await server.client.create(secrets, { metadata: { name: 'a', ...place } })
    for (let i = 0; i < 5; i++)
      await expect(server.client.create(secrets, { metadata: { name: 'a', ...place } })).rejects.toMatchObject({
        reason: 'AlreadyExists',
      })
    expect(await used(server)).toEqual({ secrets: '1' })
  })

  it('counts the larger of the requested and the allocated storage of a claim, as soon as its status changes [S63]', async () => {
    await using server = await start()
    await limit(server, { 'requests.storage': '10Gi' })
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
    await server.client.create(claims, { metadata: { name: 'c', ...place }, spec })
    expect(await used(server)).toEqual({ 'requests.storage': '1Gi' })
    for (const [storage, counted] of [
      ['4Gi', '4Gi'],
      ['6Gi', '6Gi'],
      ['2Gi', '2Gi'],
      ['512Mi', '1Gi'],
    ] as const) {
      const patch = { status: { allocatedResources: { storage } } }
      await server.client.patch(claims, 'c', { ...place, subresource: 'status', type: 'merge', patch })
      expect(await used(server), storage).toEqual({ 'requests.storage': counted })
    }
  })

  it('lowers the status when objects terminate, are deleted or shrink [P289]', async () => {
    await using server = await start()
    await limit(server, { pods: '9', 'requests.cpu': '2', 'services.nodeports': '1', 'count/secrets': '2' })
    const busy = { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '500m' } } }] }
    await server.client.create(pods, pod('a', busy))
    await server.client.create(pods, pod('b', busy))
    await server.client.create(secrets, { metadata: { name: 's', ...place } })
    await server.client.create(services, {
      metadata: { name: 'n', ...place },
      spec: { type: 'NodePort', ports: [{ port: 80 }] },
    })
    expect(await used(server)).toEqual({ 'count/secrets': '1', pods: '2', 'requests.cpu': '1', 'services.nodeports': '1' })
    await server.client.patch(pods, 'a', {
      ...place,
      subresource: 'status',
      type: 'merge',
      patch: { status: { phase: 'Succeeded' } },
    })
    await server.client.delete(secrets, 's', place)
    await server.client.patch(services, 'n', {
      ...place,
      type: 'merge',
      patch: { spec: { type: 'ClusterIP', ports: [{ port: 80, nodePort: null }] } },
    })
    expect(await used(server)).toEqual({ 'count/secrets': '0', pods: '1', 'requests.cpu': '500m', 'services.nodeports': '0' })
  })

  it('recounts a changed quota, and all quotas periodically [P289]', async () => {
    await using server = await start()
    await server.client.create(pods, pod('a'))
    await limit(server, { pods: '1' })
    expect(await used(server)).toEqual({ pods: '1' })
    await server.client.patch(quotas, 'q', { ...place, type: 'merge', patch: { spec: { hard: { pods: null, secrets: '4' } } } })
    expect(await used(server)).toEqual({ secrets: '0' })
    await server.client.patch(quotas, 'q', {
      ...place,
      subresource: 'status',
      type: 'merge',
      patch: { status: { used: { secrets: '3' } } },
    })
    expect(await used(server)).toEqual({ secrets: '3' })
    await server.clock.advance({ minutes: 6 })
    expect(await used(server)).toEqual({ secrets: '0' })
  })

  it('counts custom resources [P289]', async () => {
    await using server = await start()
    const definitions = resourceType({
      group: 'apiextensions.k8s.io',
      version: 'v1',
      resource: 'customresourcedefinitions',
      kind: 'CustomResourceDefinition',
      namespaced: false,
    })
    const widgets = resourceType({ group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget' })
    const schema = { openAPIV3Schema: { type: 'object' } }
    await server.client.create(definitions, {
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    })
    await server.settle()
    await limit(server, { 'count/widgets.example.com': '1' })
    await server.client.create(widgets, { metadata: { name: 'a', ...place } })
    await expect(server.client.create(widgets, { metadata: { name: 'b', ...place } })).rejects.toThrow('exceeded quota: q')
    await server.client.delete(widgets, 'a', place)
    expect(await used(server)).toEqual({ 'count/widgets.example.com': '0' })
  })
})
