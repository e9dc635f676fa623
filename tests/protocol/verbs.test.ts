import { createCatalog, type ResourceDefinition } from '@krmkit/kinds'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { configMap, configMaps, names, startApi, type TestApi } from './server.ts'

/** Paths, verbs and their parameters. @see API protocol specification, 4 and 4.1 */

const secrets = '/api/v1/namespaces/default/secrets'
const catalog = createCatalog()

describe('paths', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await startApi({ types: catalog.types })
    await api.post('/api/v1/namespaces', { metadata: { name: 'other' } })
    await api.post(configMaps, configMap('a'))
  })
  afterAll(() => api.close())

  it('every group version has a path, and its name determines its stability [P137, P329, P328]', async () => {
    const groups = (await api.get('/apis')).json.groups as {
      name: string
      versions: { groupVersion: string; version: string }[]
    }[]
    const paths = ['/api/v1', ...groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => `/apis/${groupVersion}`))]
    expect(paths.length).toBeGreaterThan(15)
    for (const path of paths) {
      const { status, json } = await api.get(path)
      expect([status, json.kind, json.groupVersion], path).toEqual([200, 'APIResourceList', path.replace(/^\/apis?\//, '')])
      expect(path).toMatch(/\/v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$/)
    }
    // Stable versions come first; by default only they are served if there is one.
    for (const { name, versions } of groups) expect(versions[0]?.version, name).toMatch(/^v[1-9][0-9]*$/)
    for (const path of ['/api/v2', '/apis/apps/v1beta1', '/apis/apps/v9', '/apis/none.example.com/v1', '/api/v1/x/y/z']) {
      expect((await api.get(`${path}/pods`)).status, path).toBe(404)
    }
  })

  it('namespaced objects have paths in a namespace, others do not [P138]', async () => {
    const root = ({ group, version }: ResourceDefinition) => (group === '' ? `/api/${version}` : `/apis/${group}/${version}`)
    for (const one of catalog.definitions.filter(({ resource }) => resource.verbs.includes('list'))) {
      const { name, namespaced } = one.resource
      const inside = await api.get(`${root(one)}/namespaces/default/${name}`)
      expect((await api.get(`${root(one)}/${name}`)).status, name).toBe(200)
      // In the core group, the segment after a namespace name is a subresource of the namespace.
      if (namespaced) expect(inside.status, name).toBe(200)
      else if (name !== 'namespaces') expect(inside.status, name).toBe(404)
    }
    expect((await api.get('/api/v1/configmaps/a')).status).toBe(404)
    expect((await api.get(`${configMaps}/a`)).status).toBe(200)
    expect((await api.get('/api/v1/namespaces/default/namespaces/default')).status).toBe(404)
  })

  it('a request concerns one object [P150]', async () => {
    const two = await api.send('POST', configMaps, { body: `${JSON.stringify(configMap('x'))}${JSON.stringify(configMap('y'))}` })
    expect(two.json).toMatchObject({ code: 400, reason: 'BadRequest' })
    const list = await api.post(configMaps, { kind: 'ConfigMapList', apiVersion: 'v1', items: [configMap('x'), configMap('y')] })
    expect(list.json).toMatchObject({ code: 400, reason: 'BadRequest' })
    const array = await api.send('POST', configMaps, { body: [configMap('x')] })
    expect(array.status).toBe(400)
    for (const [method, path] of [
      ['PUT', configMaps],
      ['PATCH', configMaps],
      ['POST', `${configMaps}/a`],
      ['POST', '/api/v1/configmaps'],
      ['DELETE', '/api/v1/configmaps'],
      ['GET', `${configMaps}/a/b`],
    ] as const) {
      const answer = await api.send(method, path, { body: {}, headers: { 'content-type': 'application/merge-patch+json' } })
      expect([404, 405], `${method} ${path}`).toContain(answer.status)
    }
    expect(names((await api.get(configMaps)).json)).toEqual(['a'])
  })

  it('certificate requests have the standard verbs and subresources for updates [P151]', async () => {
    const own = catalog.resource({ group: 'certificates.k8s.io', version: 'v1', resource: 'certificatesigningrequests' })
    expect([...(own?.resource.verbs ?? [])].sort()).toEqual([
      'create',
      'delete',
      'deletecollection',
      'get',
      'list',
      'patch',
      'update',
      'watch',
    ])
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
    for (const sub of ['approval', 'status']) {
      expect((await api.get(`${path}/missing/${sub}`)).json, sub).toMatchObject({ code: 404, details: { name: 'missing' } })
      expect(
        (
          await api.put(`${path}/missing/${sub}`, {
            metadata: { name: 'missing' },
            spec: { request: '', signerName: 'a.b/c', usages: [] },
          })
        ).status,
        sub,
      ).toBe(404)
      expect((await api.post(`${path}/missing/${sub}`, {})).status, sub).toBe(405)
      expect((await api.delete(`${path}/missing/${sub}`)).status, sub).toBe(405)
    }
    expect((await api.get(path)).json.kind).toBe('CertificateSigningRequestList')
  })

  it('groups are served to any method, that of the aggregation layer to GET alone', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      expect((await api.send(method, '/apis/apps', {})).status, method).toBe(200)
      const aggregation = await api.send(method, '/apis/apiregistration.k8s.io', {})
      expect(aggregation.status, method).toBe(method === 'GET' ? 200 : 405)
    }
  })

  it('proxy exists below pods, services and nodes only, for any method and path [P152]', async () => {
    await api.post('/api/v1/namespaces/default/pods', {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    })
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const answer = await api.send(method, '/api/v1/namespaces/default/pods/p/proxy/any/where', { body: {} })
      // This pod has no address.
      expect([answer.status, answer.json.message], method).toEqual([400, 'address not allowed'])
    }
    for (const path of ['/api/v1/namespaces/default/pods', '/api/v1/namespaces/default/services', '/api/v1/nodes']) {
      const missing = await api.get(`${path}/missing/proxy/`)
      expect(missing.json, path).toMatchObject({ code: 404, details: { name: 'missing', kind: path.split('/').at(-1) } })
    }
    expect((await api.get(`${configMaps}/a/proxy`)).status).toBe(404)
  })

  it('the log of an unscheduled pod is empty, with the container chosen [P143]', async () => {
    const containers = ['c', 'd'].map((name) => ({ name, image: 'i' }))
    await api.post('/api/v1/namespaces/default/pods', { metadata: { name: 'two' }, spec: { containers } })
    const log = async (query: Record<string, string>) => {
      const { status, json } = await api.get('/api/v1/namespaces/default/pods/two/log', query)
      return status === 204 ? status : [status, json.message]
    }
    expect(await log({ container: 'c' })).toBe(204)
    expect(await log({})).toEqual([400, 'a container name must be specified for pod two, choose one of: [c d]'])
    expect(await log({ container: 'x' })).toEqual([400, 'container x is not valid for pod two'])
  })
})

describe('verbs', () => {
  let api: TestApi
  beforeEach(async () => {
    api = await startApi({ types: catalog.types })
    return () => api.close()
  })

  it('create, get, replace and delete one object [P143, P140, P144, P147]', async () => {
    const path = `${configMaps}/a`
    const made = await api.post(configMaps, configMap('a', { data: { k: '1' } }))
    expect([made.status, made.json.data]).toEqual([201, { k: '1' }])
    expect((await api.get(path)).text).toBe(made.text)
    const put = await api.put(path, configMap('a', { data: { l: '2' } }))
    expect([put.status, put.json.data]).toEqual([200, { l: '2' }])
    const gone = await api.delete(path)
    expect([gone.status, gone.json]).toMatchObject([
      200,
      { kind: 'Status', status: 'Success', details: { name: 'a', kind: 'configmaps', uid: made.json.metadata.uid } },
    ])
    expect((await api.get(path)).json).toMatchObject({
      kind: 'Status',
      status: 'Failure',
      code: 404,
      reason: 'NotFound',
      details: { name: 'a', kind: 'configmaps' },
    })
    expect((await api.delete(path)).status).toBe(404)
  })

  it('a body may omit its type, but not name another [P143]', async () => {
    expect((await api.post(configMaps, { metadata: { name: 'a' } })).json).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' })
    expect((await api.post(configMaps, { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'b' } })).status).toBe(400)
    expect((await api.post(configMaps, { kind: 'ConfigMap', apiVersion: 'v2', metadata: { name: 'b' } })).status).toBe(400)
    expect((await api.put(`${configMaps}/a`, configMap('b'))).json).toMatchObject({
      code: 400,
      message: expect.stringContaining('does not match the name on the URL'),
    })
    expect((await api.put(`${configMaps}/a`, {})).status).toBe(400)
  })

  it('PUT creates missing objects where the kind allows it [P144]', async () => {
    const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
    const made = await api.put(`${leases}/l`, { metadata: { name: 'l' }, spec: {} })
    expect(made.status).toBe(201)
    expect((await api.put(`${leases}/l`, { ...made.json, spec: { holderIdentity: 'me' } })).status).toBe(200)
    expect((await api.put(`${configMaps}/free`, configMap('free'))).json).toMatchObject({ code: 404, reason: 'NotFound' })
    // The object to replace is another one.
    const stale = await api.put(`${leases}/m`, { metadata: { name: 'm', uid: 'x' }, spec: {} })
    expect(stale.json).toMatchObject({ code: 409, reason: 'Conflict' })
  })

  it('the three patch types [P145]', async () => {
    const pods = '/api/v1/namespaces/default/pods'
    await api.post(pods, {
      metadata: { name: 'p', labels: { a: '1', b: '2' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    })
    const send = (type: string, body: object) =>
      api.send('PATCH', `${pods}/p`, { body, headers: { 'content-type': `application/${type}+json` } })
    expect((await send('merge-patch', { metadata: { labels: { a: null, c: '3' } } })).json.metadata.labels).toEqual({
      b: '2',
      c: '3',
    })
    const steps = [
      { op: 'test', path: '/metadata/labels/b', value: '2' },
      { op: 'replace', path: '/metadata/labels/b', value: '4' },
      { op: 'remove', path: '/metadata/labels/c' },
    ]
    expect((await send('json-patch', steps)).json.metadata.labels).toEqual({ b: '4' })
    const { json } = await send('strategic-merge-patch', { spec: { containers: [{ name: 'c', image: 'j' }] } })
    expect(json.spec.containers).toMatchObject([{ name: 'c', image: 'j' }])
    // A merge patch would have replaced the list; this one keeps other items.
    expect((json.spec.containers as { terminationMessagePath?: string }[])[0]?.terminationMessagePath).toBe(
      '/dev/termination-log',
    )
    const failed = await send('json-patch', steps)
    expect([failed.status, failed.json.reason]).toEqual([422, 'Invalid'])
    expect((await send('merge-patch', { metadata: { name: 'q' } })).status).toBe(400)
    expect((await api.patch(`${pods}/missing`, {})).status).toBe(404)
  })

  it('a no-op patch is not a write [P145]', async () => {
    const first = (await api.post(configMaps, configMap('a', { data: { k: '1' } }))).json
    const revision = api.storage.revision
    const again = await api.patch(`${configMaps}/a`, { data: { k: '1' } })
    expect([again.status, again.json]).toEqual([200, first])
    expect(api.storage.revision).toBe(revision)
  })

  it('concurrent patches all apply [P145]', async () => {
    await api.post(configMaps, configMap('a'))
    const answers = await Promise.all(
      Array.from({ length: 25 }, (_, i) => api.patch(`${configMaps}/a`, { data: { [`k${i}`]: 'v' } })),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 25 }, () => 200))
    expect(Object.keys((await api.get(`${configMaps}/a`)).json.data)).toHaveLength(25)
  })

  it('a deletion may have uid and version preconditions [P147]', async () => {
    const { uid, resourceVersion } = (await api.post(configMaps, configMap('a'))).json.metadata
    const del = (preconditions: object) =>
      api.delete(`${configMaps}/a`, { body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions } })
    expect((await del({ uid: 'another' })).json).toMatchObject({ code: 409, reason: 'Conflict' })
    expect((await del({ uid, resourceVersion: '1' })).json).toMatchObject({ code: 409 })
    expect((await del({ uid, resourceVersion })).status).toBe(200)
  })

  it('deletecollection deletes matching objects in its namespace [P148, P157, P158]', async () => {
    await api.post('/api/v1/namespaces', { metadata: { name: 'other' } })
    await api.post('/api/v1/namespaces/other/secrets', { metadata: { name: 'a', labels: { go: 'yes' } } })
    for (const name of ['a', 'b', 'c'])
      await api.post(secrets, { metadata: { name, labels: { go: name === 'b' ? 'no' : 'yes' } } })
    const gone = await api.delete(secrets, { query: { labelSelector: 'go=yes' } })
    expect([gone.status, gone.json]).toMatchObject([200, { kind: 'Status', status: 'Success' }])
    expect(names((await api.get('/api/v1/secrets')).json)).toEqual(['b', 'a'])
    await api.post(secrets, { metadata: { name: 'd' } })
    await api.delete(secrets, { query: { fieldSelector: 'metadata.name!=d' } })
    expect(names((await api.get(secrets)).json)).toEqual(['d'])
    await api.delete(secrets)
    expect(names((await api.get(secrets)).json)).toEqual([])
    expect((await api.delete(secrets)).status).toBe(200)
    expect((await api.delete(secrets, { query: { labelSelector: '((' } })).status).toBe(400)
  })

  it('the DELETED event has the version of the deletion [P147, P301]', async () => {
    const made = (await api.post(configMaps, configMap('a'))).json
    const watch = await api.watch(configMaps, { resourceVersion: made.metadata.resourceVersion })
    await api.delete(`${configMaps}/a`)
    const [event] = await watch.take(1)
    expect(event?.type).toBe('DELETED')
    expect(event?.object.metadata.resourceVersion).toBe(String(api.storage.revision))
    // A watch from it repeats nothing.
    const next = await api.watch(configMaps, { resourceVersion: String(event?.object.metadata.resourceVersion) })
    await api.post(configMaps, configMap('b'))
    expect((await next.take(1)).map(({ object }) => object.metadata.name)).toEqual(['b'])
    for (const one of [watch, next]) await one.leave()
    // Kinds whose deletion returns the object show the same version.
    const classes = '/apis/storage.k8s.io/v1/storageclasses'
    const kept = (await api.post(classes, { metadata: { name: 's' }, provisioner: 'p' })).json
    const deleted = (await api.delete(`${classes}/s`)).json
    expect([deleted.kind, deleted.metadata.uid]).toEqual(['StorageClass', kept.metadata.uid])
    expect(deleted.metadata.resourceVersion).toBe(String(api.storage.revision))
  })
})
