import { defaultAdmissionPlugins } from '@krmkit/admission'
import { createNamingProfile, seededRandom, stockProfile } from '@krmkit/meta'
import { readEnvelope } from '@krmkit/schema'
import { fork, memoryStorage } from '@krmkit/storage'
import { createTestServer } from '@krmkit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  administrator,
  asTable,
  configMap,
  configMaps,
  eventsOf,
  names,
  protobuf,
  send,
  settled,
  startApi,
  type TestApi,
} from './server.ts'

/** A custom naming profile with the same rules, and several servers in one process. */

const profile = createNamingProfile({
  apiDomain: 'example.dev',
  vendor: 'acme',
  domain: 'acme.dev',
  systemNamespace: 'acme-system',
  publicNamespace: 'acme-public',
  nodeLeaseNamespace: 'acme-leases',
})
const acmeProtobuf = 'application/vnd.acme.protobuf'
const acmeTable = { accept: 'application/json;as=Table;g=meta.example.dev;v=v1' }
const acmePartial = { accept: 'application/json;as=PartialObjectMetadata;g=meta.example.dev;v=v1' }
const acmePartialList = { accept: 'application/json;as=PartialObjectMetadataList;g=meta.example.dev;v=v1' }

describe('another naming profile', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await startApi({
      profile,
      admission: defaultAdmissionPlugins({ profile, random: seededRandom(3) }).filter(({ name }) => name !== 'ServiceAccount'),
    })
  })
  afterAll(() => api.close())

  it('its system and public namespaces, which cannot be deleted [P130]', async () => {
    expect(names((await api.get('/api/v1/namespaces')).json).sort()).toEqual([
      'acme-leases',
      'acme-public',
      'acme-system',
      'default',
    ])
    for (const name of ['default', 'acme-system', 'acme-public'])
      expect((await api.delete(`/api/v1/namespaces/${name}`)).status, name).toBe(403)
    // The stock names have no meaning here.
    await api.post('/api/v1/namespaces', { metadata: { name: 'kube-system' } })
    expect((await api.delete('/api/v1/namespaces/kube-system')).status).toBe(200)
  })

  it('labels and annotations of its domain [P18]', async () => {
    const { labels } = (await api.get('/api/v1/namespaces/acme-system')).json.metadata
    expect(labels).toEqual({ 'acme.dev/metadata.name': 'acme-system' })
    expect(JSON.stringify((await api.get('/api/v1/namespaces')).json)).not.toMatch(/kubernetes\.io|k8s\.io/)
  })

  it('groups of its domain, in the standard order [P137, P329]', async () => {
    const groups = (json: { readonly [member: string]: unknown }) => (json.groups as { name: string }[]).map(({ name }) => name)
    await using stock = await startApi()
    const own = groups((await api.get('/apis')).json)
    expect(own).toEqual(groups((await stock.get('/apis')).json).map((group) => group.replace(/\.k8s\.io$/, '.example.dev')))
    expect(own).toContain('rbac.authorization.example.dev')
    expect((await api.get('/apis/networking.k8s.io/v1')).status).toBe(404)
    expect((await api.get('/apis/networking.example.dev/v1')).json).toMatchObject({
      kind: 'APIResourceList',
      groupVersion: 'networking.example.dev/v1',
    })
    const aggregated = await api.get(
      '/apis',
      {},
      { accept: 'application/json;g=apidiscovery.example.dev;v=v2;as=APIGroupDiscoveryList' },
    )
    expect(aggregated.json).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.example.dev/v2' })
  })

  it('objects of its groups follow the same rules [P143, P144, P145, P147]', async () => {
    const leases = '/apis/coordination.example.dev/v1/namespaces/default/leases'
    const made = await api.post(
      leases,
      { apiVersion: 'coordination.example.dev/v1', kind: 'Lease', metadata: { name: 'l' }, spec: { holderIdentity: 'a' } },
      { query: { fieldManager: 'me' } },
    )
    expect([made.status, made.json.apiVersion]).toEqual([201, 'coordination.example.dev/v1'])
    expect(made.json.metadata.managedFields).toMatchObject([{ manager: 'me', apiVersion: 'coordination.example.dev/v1' }])
    expect((await api.patch(`${leases}/l`, { spec: { holderIdentity: 'b' } })).json.spec).toEqual({ holderIdentity: 'b' })
    const applied = await api.send('PATCH', `${leases}/l`, {
      query: { fieldManager: 'you' },
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: 'apiVersion: coordination.example.dev/v1\nkind: Lease\nmetadata: {name: l}\nspec: {leaseDurationSeconds: 5}\n',
    })
    expect([applied.status, applied.json.spec]).toEqual([200, { holderIdentity: 'b', leaseDurationSeconds: 5 }])
    const wrong = await api.post(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'm' } })
    expect(wrong.status).toBe(400)
    expect((await api.get(leases)).json).toMatchObject({ kind: 'LeaseList', apiVersion: 'coordination.example.dev/v1' })
    const watch = await api.watch(leases)
    expect(eventsOf(await watch.take(1))).toEqual(['ADDED l'])
    await watch.leave()
    expect((await api.delete(`${leases}/l`)).json).toMatchObject({
      kind: 'Status',
      details: { group: 'coordination.example.dev', kind: 'leases' },
    })
    expect((await api.get(`${leases}/l`)).json).toMatchObject({ code: 404, details: { group: 'coordination.example.dev' } })
    const invalid = await api.post('/apis/storage.example.dev/v1/storageclasses', { metadata: { name: 's' } })
    expect(invalid.json).toMatchObject({
      code: 422,
      message: expect.stringMatching(/^StorageClass\.storage\.example\.dev "s" is invalid/),
    })
  })

  it('tables and metadata of its meta group, and of no other [P31, P193]', async () => {
    await api.post(configMaps, configMap('a'))
    expect((await api.get(configMaps, {}, acmeTable)).json).toMatchObject({
      kind: 'Table',
      apiVersion: 'meta.example.dev/v1',
      rows: [{ object: { apiVersion: 'meta.example.dev/v1' } }],
    })
    expect((await api.get(`${configMaps}/a`, {}, acmePartial)).json).toMatchObject({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.example.dev/v1',
    })
    expect((await api.get(configMaps, {}, acmePartialList)).json).toMatchObject({
      apiVersion: 'meta.example.dev/v1',
      items: [{ apiVersion: 'meta.example.dev/v1' }],
    })
    expect((await api.get(configMaps, {}, asTable)).status).toBe(406)
    const table = await api.watch(configMaps, { allowWatchBookmarks: '1' }, acmeTable)
    expect((await table.take(1))[0]?.object).toMatchObject({ kind: 'Table', apiVersion: 'meta.example.dev/v1' })
    const partial = await api.watch(
      configMaps,
      { allowWatchBookmarks: '1', sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' },
      acmePartial,
    )
    const events = await partial.take(2)
    expect(events.map(({ object }) => object.apiVersion)).toEqual(['meta.example.dev/v1', 'meta.example.dev/v1'])
    expect(events[1]?.object.metadata.annotations).toMatchObject({ 'example.dev/initial-events-end': 'true' })
    for (const watch of [table, partial]) await watch.leave()
  })

  it('protobuf of its vendor [P34, P190]', async () => {
    const answer = await api.get('/apis/networking.example.dev/v1/ingresses', {}, { accept: acmeProtobuf })
    expect([answer.status, answer.headers['content-type']]).toEqual([200, acmeProtobuf])
    expect(readEnvelope(answer.bytes)).toMatchObject({ kind: 'IngressList', apiVersion: 'networking.example.dev/v1' })
    const refused = await api.get(configMaps, {}, { accept: protobuf })
    expect([refused.status, refused.json.message]).toEqual([406, expect.stringContaining(acmeProtobuf)])
    const sent = await api.send('POST', configMaps, { body: answer.bytes, headers: { 'content-type': protobuf } })
    expect(sent.status).toBe(415)
    const watch = await api.watch(configMaps, {}, { accept: acmeProtobuf })
    expect(watch.response.headers['content-type']).toBe(`${acmeProtobuf};stream=watch`)
    await watch.leave()
  })

  it('option errors name its meta group [P161, P163]', async () => {
    for (const answer of [
      await api.post(configMaps, configMap('b'), { query: { dryRun: 'x' } }),
      await api.delete(`${configMaps}/a`, { query: { propagationPolicy: 'x' } }),
    ]) {
      expect(answer.json.details).toMatchObject({ group: 'meta.example.dev' })
      expect(JSON.stringify(answer.json)).not.toContain('k8s.io')
    }
  })

  it('subresources and reviews of its groups [P2, P3]', async () => {
    await api.post('/apis/apps/v1/namespaces/default/deployments', {
      metadata: { name: 'd' },
      spec: {
        replicas: 2,
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    })
    expect((await api.get('/apis/apps/v1/namespaces/default/deployments/d/scale')).json).toMatchObject({
      kind: 'Scale',
      spec: { replicas: 2 },
    })
    const review = await api.post('/apis/authorization.example.dev/v1/selfsubjectaccessreviews', {
      spec: { nonResourceAttributes: { path: '/', verb: 'get' } },
    })
    expect(review.json).toMatchObject({ apiVersion: 'authorization.example.dev/v1', status: { allowed: true } })
    const classes = '/apis/scheduling.example.dev/v1/priorityclasses'
    expect((await api.post(classes, { metadata: { name: 'high' }, value: 7 })).status).toBe(201)
    const pod = await api.post('/api/v1/namespaces/default/pods', {
      metadata: { name: 'p' },
      spec: { priorityClassName: 'high', containers: [{ name: 'c', image: 'i' }] },
    })
    expect([pod.status, pod.json.spec.priority]).toEqual([201, 7])
  })

  it('events are served by both of its groups [P342]', async () => {
    const event = {
      metadata: { name: 'e' },
      eventTime: '2024-01-01T00:00:00.000000Z',
      type: 'Normal',
      reason: 'R',
      action: 'A',
      regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
      reportingController: 'c.d/e',
      reportingInstance: 'i',
    }
    expect((await api.post('/apis/events.example.dev/v1/namespaces/default/events', event)).status).toBe(201)
    expect((await api.get('/api/v1/namespaces/default/events/e')).json).toMatchObject({
      apiVersion: 'v1',
      reportingComponent: 'c.d/e',
    })
  })

  it('OpenAPI documents contain no other names [P1]', async () => {
    const index = await api.get('/openapi/v3')
    expect(Object.keys(index.json.paths as object)).toContain('apis/storage.example.dev/v1')
    const document = await api.get('/openapi/v3/apis/coordination.example.dev/v1')
    expect(Object.keys(document.json.paths as object)).toContain('/apis/coordination.example.dev/v1/leases')
    expect(document.text).toContain('"group":"coordination.example.dev"')
    expect(document.text).not.toContain('application/vnd.kubernetes.protobuf')
  })

  it('its controllers delete namespaces [P9, P128]', async () => {
    await using cluster = await createTestServer({ server: { profile } })
    const call = (method: string, path: string, body?: object) =>
      send(cluster.handle, method, path, { user: administrator, ...(body === undefined ? {} : { body }) })
    await call('POST', '/api/v1/namespaces', { metadata: { name: 'n' } })
    await call('POST', '/api/v1/namespaces/n/configmaps', configMap('a'))
    await call('POST', '/apis/coordination.example.dev/v1/namespaces/n/leases', { metadata: { name: 'l' }, spec: {} })
    await call('DELETE', '/api/v1/namespaces/n')
    await cluster.settle()
    expect((await call('GET', '/api/v1/namespaces/n')).status).toBe(404)
    expect((await call('GET', '/apis/coordination.example.dev/v1/namespaces/n/leases')).json.items).toEqual([])
  })
})

describe('two servers in one process', () => {
  it('are independent [P6, P22]', async () => {
    await using one = await startApi()
    await using other = await startApi({ profile, limits: { bodyBytes: 500 } })
    await one.post(configMaps, configMap('a', { data: { of: 'one' } }))
    const watch = await other.watch(configMaps, { resourceVersion: String(other.storage.revision) })
    await watch.listen()
    expect((await other.get(`${configMaps}/a`)).status).toBe(404)
    expect((await other.post(configMaps, configMap('a', { data: { of: 'other' } }))).status).toBe(201)
    expect((await one.get(`${configMaps}/a`)).json.data).toEqual({ of: 'one' })
    expect(eventsOf(await watch.take(1))).toEqual(['ADDED a'])
    await watch.leave()
    const large = configMap('b', { data: { k: 'x'.repeat(600) } })
    expect([(await one.post(configMaps, large)).status, (await other.post(configMaps, large)).status]).toEqual([201, 413])
    expect([(await one.get(configMaps, {}, asTable)).status, (await other.get(configMaps, {}, asTable)).status]).toEqual([
      200, 406,
    ])
    one.clock.advance(10_000)
    expect(other.clock.now()).toBe(one.clock.now() - 10_000)
    await one.close()
    expect([(await one.get(configMaps)).status, (await other.get(configMaps)).status]).toEqual([503, 200])
  })

  it('share a store, each with its own names [P301]', async () => {
    const storage = memoryStorage()
    const one = await startApi({ storage })
    const other = await startApi({ storage })
    const watch = await other.watch(configMaps)
    await watch.listen()
    const made = await one.post(configMaps, configMap('a'))
    expect((await watch.take(1))[0]).toEqual({ type: 'ADDED', object: made.json })
    // Concurrent writes behave as within one server: none is lost.
    const writes = Array.from({ length: 20 }, (_, i) =>
      (i % 2 === 0 ? one : other).patch(`${configMaps}/a`, { data: { [`k${i}`]: 'v' } }),
    )
    expect((await Promise.all(writes)).every(({ status }) => status === 200)).toBe(true)
    expect(Object.keys((await one.get(`${configMaps}/a`)).json.data)).toHaveLength(20)
    expect(
      (await Promise.all([one.post(configMaps, configMap('b')), other.post(configMaps, configMap('b'))]))
        .map(({ status }) => status)
        .sort(),
    ).toEqual([201, 409])
    await watch.leave()
    await one.close()
    await settled()
  })

  it('a fork of a store is independent [P187]', async () => {
    const storage = memoryStorage()
    await using one = await startApi({ storage })
    for (const name of ['a', 'b', 'c']) await one.post(configMaps, configMap(name))
    await using other = await startApi({ storage: fork(storage) })
    const first = (await one.get(configMaps, { limit: '1' })).json
    await one.delete(`${configMaps}/b`)
    // A continue token works in the fork, too: it has the same snapshot.
    expect(names((await other.get(configMaps, { continue: first.metadata.continue })).json)).toEqual(['b', 'c'])
    expect(names((await other.get(configMaps)).json)).toEqual(['a', 'b', 'c'])
    expect(names((await one.get(configMaps)).json)).toEqual(['a', 'c'])
    expect(stockProfile.systemNamespace).toBe('kube-system')
  })
})
