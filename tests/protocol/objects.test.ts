import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configMap, configMaps, names, startApi, startMs, type TestApi } from './server.ts'

/** Resources, names and metadata. @see API protocol specification, 2.1 and 2.2 */

let api: TestApi
beforeAll(async () => {
  api = await startApi()
  await api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } })
})
afterAll(() => api.close())

const pod = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } })
const pods = '/api/v1/namespaces/default/pods'

describe('resources', () => {
  it('paths use the plural, bodies the kind [P1]', async () => {
    const made = await api.post(configMaps, configMap('p1'))
    expect([made.status, made.json.kind]).toEqual([201, 'ConfigMap'])
    for (const path of [
      '/api/v1/namespaces/default/ConfigMap',
      '/api/v1/namespaces/default/configmap',
      '/api/v1/namespaces/default/cm',
    ]) {
      expect((await api.get(path)).status, path).toBe(404)
    }
    const wrong = await api.post(configMaps, { ...configMap('x'), kind: 'configmaps' })
    expect([wrong.status, wrong.json.reason]).toEqual([400, 'BadRequest'])
  })

  it('a subresource has its own verbs and belongs to one object [P2]', async () => {
    await api.post(pods, pod('p2'))
    expect((await api.get(`${pods}/p2/status`)).json).toMatchObject({ kind: 'Pod', metadata: { name: 'p2' } })
    expect((await api.patch(`${pods}/p2/status`, { status: { message: 'm' } })).json.status).toMatchObject({ message: 'm' })
    for (const [method, path] of [
      ['POST', `${pods}/p2/status`],
      ['DELETE', `${pods}/p2/status`],
      ['GET', `${pods}/p2/eviction`],
      ['GET', `${pods}/p2/binding`],
      ['DELETE', `${pods}/p2/binding`],
    ] as const) {
      const refused = await api.send(method, path, { body: {} })
      expect([refused.status, refused.json.reason], `${method} ${path}`).toEqual([405, 'MethodNotAllowed'])
    }
    // `status` of all pods is not a path: it is the name of a pod.
    expect((await api.get(`${pods}/status`)).json).toMatchObject({ code: 404, details: { name: 'status', kind: 'pods' } })
    expect((await api.get(`${configMaps}/p1/status`)).status).toBe(404)
  })

  it('a virtual resource is a POST that stores nothing [P3]', async () => {
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
    const before = api.storage.revision
    const answer = await api.post(path, {
      kind: 'SelfSubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1',
      spec: { nonResourceAttributes: { path: '/', verb: 'get' } },
    })
    expect(answer.status).toBe(201)
    expect(answer.json.status).toMatchObject({ allowed: true })
    expect(api.storage.revision).toBe(before)
    for (const method of ['GET', 'PUT', 'DELETE']) expect((await api.send(method, path, { body: {} })).status, method).toBe(405)
  })

  it('eviction is an operation on a pod, bounded by its disruption budgets [P4]', async () => {
    await api.post(pods, { ...pod('p4'), metadata: { name: 'p4', labels: { app: 'p4' } } })
    await api.patch(`${pods}/p4/status`, { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } })
    const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets'
    await api.post(budgets, { metadata: { name: 'p4' }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'p4' } } } })
    const eviction = {
      kind: 'Eviction',
      apiVersion: 'policy/v1',
      metadata: { name: 'p4' },
      deleteOptions: { gracePeriodSeconds: 0 },
    }
    const held = await api.post(`${pods}/p4/eviction`, eviction)
    expect([held.status, held.json.reason]).toEqual([429, 'TooManyRequests'])
    expect((await api.get(`${pods}/p4`)).json.metadata.deletionTimestamp).toBeUndefined()
    await api.delete(`${budgets}/p4`)
    const done = await api.post(`${pods}/p4/eviction`, eviction)
    expect([done.status, done.json.kind, done.json.status]).toEqual([201, 'Status', 'Success'])
    expect((await api.get(`${pods}/p4`)).status).toBe(404)
  })
})

describe('names', () => {
  it('names are unique; virtual types need none [P5]', async () => {
    expect((await api.post(configMaps, configMap('p5'))).status).toBe(201)
    const again = await api.post(configMaps, configMap('p5'))
    expect(again.json).toMatchObject({ code: 409, reason: 'AlreadyExists', details: { name: 'p5', kind: 'configmaps' } })
    const nameless = await api.post(configMaps, { kind: 'ConfigMap', apiVersion: 'v1' })
    expect(nameless.json).toMatchObject({
      code: 422,
      reason: 'Invalid',
      details: { causes: [{ reason: 'FieldValueRequired', field: 'metadata.name' }] },
    })
    const review = await api.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      kind: 'SelfSubjectReview',
      apiVersion: 'authentication.k8s.io/v1',
    })
    expect(review.status).toBe(201)
  })

  it('names are unique per namespace and kind [P6]', async () => {
    const others = '/api/v1/namespaces/other/configmaps'
    await api.post(configMaps, configMap('p6', { data: { at: 'default' } }))
    expect((await api.post(others, configMap('p6', { data: { at: 'other' } }))).status).toBe(201)
    expect((await api.post('/api/v1/namespaces/default/secrets', { metadata: { name: 'p6' } })).status).toBe(201)
    expect((await api.get(`${configMaps}/p6`)).json.data).toEqual({ at: 'default' })
    expect((await api.get(`${others}/p6`)).json.data).toEqual({ at: 'other' })
  })

  it('the name of a deleted object can be reused [P7]', async () => {
    const first = (await api.post(configMaps, configMap('p7'))).json
    await api.delete(`${configMaps}/p7`)
    const second = await api.post(configMaps, configMap('p7'))
    expect(second.status).toBe(201)
    expect(second.json.metadata.uid).not.toBe(first.metadata.uid)
  })

  it('names of cluster-scoped objects are unique in the cluster [P8]', async () => {
    const nodes = '/api/v1/nodes'
    expect((await api.post(nodes, { metadata: { name: 'p8' } })).json.metadata.namespace).toBeUndefined()
    expect((await api.post(nodes, { metadata: { name: 'p8' } })).json).toMatchObject({ code: 409, reason: 'AlreadyExists' })
    expect((await api.get('/api/v1/namespaces/default/nodes/p8')).status).toBe(404)
  })
})

describe('metadata', () => {
  it('generateName generates a unique name; name takes precedence [P10]', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => api.post(configMaps, { metadata: { generateName: 'p10-' } })))
    const generated = made.map(({ json }) => json.metadata.name)
    expect(new Set(generated).size).toBe(20)
    for (const name of generated) expect(name).toMatch(/^p10-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    const named = await api.post(configMaps, { metadata: { name: 'p10', generateName: 'p10-' } })
    expect(named.json.metadata).toMatchObject({ name: 'p10', generateName: 'p10-' })
  })

  it('generation that always collides is a retryable conflict [P10]', async () => {
    const alwaysTheSame = {
      uuid: () => '00000000-0000-4000-8000-000000000000',
      nameSuffix: () => 'bbbbb',
      bytes: (size: number) => new Uint8Array(size),
    }
    await using stubborn = await startApi({ random: alwaysTheSame })
    expect((await stubborn.post(configMaps, { metadata: { generateName: 'a-' } })).json.metadata.name).toBe('a-bbbbb')
    const taken = await stubborn.post(configMaps, { metadata: { generateName: 'a-' } })
    expect(taken.json).toMatchObject({ code: 409, reason: 'AlreadyExists', details: { name: 'a-bbbbb', retryAfterSeconds: 1 } })
    expect(taken.headers['retry-after']).toBe('1')
  })

  it('the namespace of the body must match the path [P11]', async () => {
    expect((await api.post(configMaps, configMap('p11'))).json.metadata.namespace).toBe('default')
    const elsewhere = await api.post(configMaps, { metadata: { name: 'x', namespace: 'other' } })
    expect([elsewhere.status, elsewhere.json.message]).toEqual([400, expect.stringContaining('does not match the namespace')])
    const moved = await api.put(`${configMaps}/p11`, { metadata: { name: 'p11', namespace: 'other' } })
    expect(moved.status).toBe(400)
  })

  it('the server sets a random uid [P12]', async () => {
    const { uid } = (await api.post(configMaps, { metadata: { name: 'p12', uid: 'mine' } })).json.metadata
    expect(uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    const changed = await api.put(`${configMaps}/p12`, { metadata: { name: 'p12', uid: 'another' } })
    expect(changed.json).toMatchObject({ code: 409, reason: 'Conflict' })
    expect((await api.put(`${configMaps}/p12`, { metadata: { name: 'p12', uid } })).status).toBe(200)
  })

  it('resourceVersion changes with every change only [P13]', async () => {
    const first = (await api.post(configMaps, configMap('p13', { data: { a: '1' } }))).json.metadata.resourceVersion
    const same = (await api.put(`${configMaps}/p13`, configMap('p13', { data: { a: '1' } }))).json.metadata.resourceVersion
    expect(same).toBe(first)
    await api.post(configMaps, configMap('p13-neighbour'))
    expect((await api.get(`${configMaps}/p13`)).json.metadata.resourceVersion).toBe(first)
    expect((await api.patch(`${configMaps}/p13`, { data: { a: '2' } })).json.metadata.resourceVersion).not.toBe(first)
    const chosen = await api.post(configMaps, { metadata: { name: 'x', resourceVersion: first } })
    expect(chosen.status).toBe(400)
  })

  it('the server sets an immutable creationTimestamp [P14]', async () => {
    const then = new Date(startMs).toISOString().replace('.000', '')
    const made = (await api.post(configMaps, { metadata: { name: 'p14', creationTimestamp: '1999-01-01T00:00:00Z' } })).json
    expect(made.metadata.creationTimestamp).toBe(then)
    api.clock.advance(5000)
    const later = await api.put(`${configMaps}/p14`, {
      metadata: { name: 'p14', creationTimestamp: '1999-01-01T00:00:00Z', labels: { a: 'b' } },
    })
    expect(later.json.metadata).toMatchObject({ creationTimestamp: then, labels: { a: 'b' } })
  })

  it('the server maintains managedFields, ignoring those of clients [P17, P20]', async () => {
    const path = `${configMaps}/p17`
    await api.post(configMaps, configMap('p17', { data: { a: '1' } }), { query: { fieldManager: 'one' } })
    await api.patch(path, { data: { b: '2' } }, { headers: { 'user-agent': 'two/1.0 (linux)' } })
    const seen = (await api.get(path)).json.metadata.managedFields
    expect(seen).toMatchObject([
      {
        manager: 'one',
        operation: 'Update',
        apiVersion: 'v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { '.': {}, 'f:a': {} } },
      },
      { manager: 'two', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { 'f:b': {} } } },
    ])
    // Omitting them does not remove them.
    await api.put(path, configMap('p17', { data: { a: '1', b: '2' } }), { query: { fieldManager: 'three' } })
    expect((await api.get(path)).json.metadata.managedFields).toEqual(seen)
  })

  it('labels and annotations are string maps [P18]', async () => {
    const metadata = {
      name: 'p18',
      labels: { 'example.com/a': 'b', c: '' },
      annotations: { 'example.com/long': 'x'.repeat(5000) },
    }
    expect((await api.post(configMaps, { metadata })).json.metadata).toMatchObject(metadata)
    const bad = await api.post(configMaps, { metadata: { name: 'x', labels: { a: '-' } } })
    expect(bad.json).toMatchObject({ code: 422, details: { causes: [{ field: 'metadata.labels' }] } })
    const typed = await api.post(configMaps, { metadata: { name: 'x', labels: { a: 1 } } })
    expect([typed.status, typed.json.message]).toEqual([
      400,
      expect.stringContaining('cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string'),
    ])
  })

  it('ownerReferences may block the deletion of the owner [P19]', async () => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'p18', uid: 'u', blockOwnerDeletion: true }
    const made = await api.post(configMaps, { metadata: { name: 'p19', ownerReferences: [owner] } })
    expect(made.json.metadata).toMatchObject({ ownerReferences: [owner] })
    const ownerless = await api.post(configMaps, { metadata: { name: 'x', ownerReferences: [{ ...owner, uid: '' }] } })
    expect(ownerless.json).toMatchObject({ code: 422, details: { causes: [{ field: 'metadata.ownerReferences.uid' }] } })
  })

  it('namespaces are objects named in the path [P149]', async () => {
    expect((await api.get('/api/v1/namespaces/other')).json).toMatchObject({ kind: 'Namespace', status: { phase: 'Active' } })
    expect(names((await api.get('/api/v1/namespaces')).json)).toContain('other')
    expect((await api.get('/api/v1/namespaces/missing')).json).toMatchObject({
      code: 404,
      details: { kind: 'namespaces', name: 'missing' },
    })
  })
})
