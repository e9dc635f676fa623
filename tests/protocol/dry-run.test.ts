import type { AdmissionPlugin } from '@krmkit/admission'
import type { Authorizer } from '@krmkit/authorization'
import { ApiError } from '@krmkit/meta'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { configMap, configMaps, type SendOptions, startApi, type TestApi } from './server.ts'

/** Dry runs. @see API protocol specification, 4.5 */

const pods = '/api/v1/namespaces/default/pods'
const deployments = '/apis/apps/v1/namespaces/default/deployments'
const query = { dryRun: 'All' }
const merge = { 'content-type': 'application/merge-patch+json' }

const pod = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } })
const deployment = {
  metadata: { name: 'd' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
}

let api: TestApi
beforeEach(async () => {
  api = await startApi()
  await api.post(configMaps, configMap('a', { data: { k: 'v' } }))
  await api.post(configMaps, { metadata: { name: 'held', finalizers: ['example.com/a'] } })
  await api.post(pods, pod('p'))
  await api.post(deployments, deployment)
  await api.post('/api/v1/namespaces', { metadata: { name: 'n' } })
})
afterEach(() => api.close())

interface Step {
  readonly method: string
  readonly path: string
  readonly options: SendOptions
  /** The status of the dry run and of the real request. */
  readonly status: number
}

const change = (method: string, path: string, body?: object, headers?: Record<string, string>): Omit<Step, 'status'> => ({
  method,
  path,
  options: { ...(body === undefined ? {} : { body }), ...(headers === undefined ? {} : { headers }) },
})

const steps: Readonly<Record<string, Step>> = {
  create: { ...change('POST', configMaps, configMap('new')), status: 201 },
  'create with a generated name': { ...change('POST', configMaps, { metadata: { generateName: 'g-' } }), status: 201 },
  'create of a service': {
    ...change('POST', '/api/v1/namespaces/default/services', {
      metadata: { name: 's' },
      spec: { type: 'NodePort', ports: [{ port: 80 }] },
    }),
    status: 201,
  },
  'create of a namespace': { ...change('POST', '/api/v1/namespaces', { metadata: { name: 'm' } }), status: 201 },
  update: { ...change('PUT', `${configMaps}/a`, configMap('a', { data: { k: 'w' } })), status: 200 },
  'update that creates': {
    ...change('PUT', '/apis/coordination.k8s.io/v1/namespaces/default/leases/l', { metadata: { name: 'l' }, spec: {} }),
    status: 201,
  },
  'update of the status': { ...change('PUT', `${pods}/p/status`, { ...pod('p'), status: { message: 'm' } }), status: 200 },
  'merge patch': { ...change('PATCH', `${configMaps}/a`, { data: { k: 'w' } }, merge), status: 200 },
  'JSON patch': {
    ...change('PATCH', `${configMaps}/a`, [{ op: 'add', path: '/data/l', value: 'w' }], {
      'content-type': 'application/json-patch+json',
    }),
    status: 200,
  },
  'strategic merge patch': {
    ...change(
      'PATCH',
      `${pods}/p`,
      { metadata: { labels: { a: 'b' } } },
      { 'content-type': 'application/strategic-merge-patch+json' },
    ),
    status: 200,
  },
  'patch of the status': { ...change('PATCH', `${pods}/p/status`, { status: { message: 'm' } }, merge), status: 200 },
  'last finalizer': { ...change('PATCH', `${configMaps}/held`, { metadata: { finalizers: [] } }, merge), status: 200 },
  scale: { ...change('PATCH', `${deployments}/d/scale`, { spec: { replicas: 5 } }, merge), status: 200 },
  'put of a scale': {
    ...change('PUT', `${deployments}/d/scale`, { metadata: { name: 'd', namespace: 'default' }, spec: { replicas: 7 } }),
    status: 200,
  },
  delete: { ...change('DELETE', `${configMaps}/a`), status: 200 },
  'delete of what is held': { ...change('DELETE', `${configMaps}/held`), status: 200 },
  'delete with grace': { ...change('DELETE', `${pods}/p`), status: 200 },
  'delete of a namespace': { ...change('DELETE', '/api/v1/namespaces/n'), status: 200 },
  deletecollection: { ...change('DELETE', configMaps), status: 200 },
  binding: {
    ...change('POST', `${pods}/p/binding`, { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }),
    status: 201,
  },
  eviction: { ...change('POST', `${pods}/p/eviction`, { metadata: { name: 'p' } }), status: 201 },
  'finalize of a namespace': {
    ...change('PUT', '/api/v1/namespaces/n/finalize', { metadata: { name: 'n' }, spec: { finalizers: [] } }),
    status: 200,
  },
}
/** Apply names its manager in the query. */
const applied = (fields: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, ...fields })
const applyQuery = { fieldManager: 'me', ...query }
const applyHeaders = { 'content-type': 'application/apply-patch+yaml' }

describe('a dry run of [P195, P196]', () => {
  it.each(Object.entries(steps))(
    '%s responds like the real request, and stores nothing',
    async (_, { method, path, options, status }) => {
      const revision = api.storage.revision
      const everything = await api.storage.list({ prefix: '/' })
      const watch = await api.watch(
        path.startsWith('/api/v1/namespaces/default') ? path.split('/').slice(0, 6).join('/') : configMaps,
        { resourceVersion: String(revision) },
      )
      const dry = await api.send(method, path, { ...options, query })
      expect(dry.status, dry.text).toBe(status)
      expect(api.storage.revision).toBe(revision)
      expect(await api.storage.list({ prefix: '/' })).toEqual(everything)
      expect(await watch.leave()).toEqual([])
      const real = await api.send(method, path, options)
      expect(real.status, real.text).toBe(status)
      expect(api.storage.revision).toBeGreaterThan(revision)
      expect(real.json.kind).toBe(dry.json.kind)
    },
  )

  it('apply responds like the real request, and stores nothing', async () => {
    const revision = api.storage.revision
    const path = `${configMaps}/applied`
    const dry = await api.send('PATCH', path, { query: applyQuery, headers: applyHeaders, body: applied({ data: { k: 'v' } }) })
    expect([dry.status, dry.json.data]).toEqual([201, { k: 'v' }])
    expect([api.storage.revision, (await api.get(path)).status]).toEqual([revision, 404])
    expect(
      (
        await api.send('PATCH', path, {
          query: { fieldManager: 'me' },
          headers: applyHeaders,
          body: applied({ data: { k: 'v' } }),
        })
      ).status,
    ).toBe(201)
    const after = api.storage.revision
    expect(
      (await api.send('PATCH', path, { query: applyQuery, headers: applyHeaders, body: applied({ data: { k: 'w' } }) })).json
        .data,
    ).toEqual({ k: 'w' })
    expect([api.storage.revision, (await api.get(path)).json.data]).toEqual([after, { k: 'v' }])
  })

  it('a review responds, since it stores nothing', async () => {
    const answer = await api.post(
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      { spec: { nonResourceAttributes: { path: '/', verb: 'get' } } },
      { query },
    )
    expect([answer.status, answer.json.status]).toMatchObject([201, { allowed: true }])
  })
})

it('dryRun in the body of a deletion works too [P195]', async () => {
  const answer = await api.delete(`${configMaps}/a`, { body: { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] } })
  expect([answer.status, (await api.get(`${configMaps}/a`)).status]).toEqual([200, 200])
})

it('returns the object to be stored, with defaults, changes and the same errors [P196]', async () => {
  const made = (await api.post(pods, pod('q'), { query })).json
  expect(made.spec).toMatchObject({ restartPolicy: 'Always', dnsPolicy: 'ClusterFirst' })
  expect(made.metadata.resourceVersion).toBeUndefined()
  expect((await api.put(`${configMaps}/a`, configMap('a', { data: { k: 'w' } }), { query })).json.data).toEqual({ k: 'w' })
  expect((await api.post(configMaps, configMap('a'), { query })).json).toMatchObject({ code: 409, reason: 'AlreadyExists' })
  expect((await api.post(configMaps, configMap('A_'), { query })).json).toMatchObject({ code: 422, reason: 'Invalid' })
  expect((await api.post(configMaps.replace('default', 'none'), configMap('a'), { query })).status).toBe(404)
  expect((await api.put(`${configMaps}/a`, { metadata: { name: 'a', resourceVersion: '1' } }, { query })).json).toMatchObject({
    code: 409,
    reason: 'Conflict',
  })
  expect((await api.patch(`${configMaps}/none`, {}, { query })).status).toBe(404)
  expect((await api.delete(`${configMaps}/none`, { query })).status).toBe(404)
  expect((await api.delete(`${configMaps}/a`, { body: { dryRun: ['All'], preconditions: { uid: 'x' } } })).json).toMatchObject({
    code: 409,
    reason: 'Conflict',
  })
  const warned = await api.post(configMaps, { ...configMap('new'), extra: 1 }, { query })
  expect(warned.warnings).toEqual(['unknown field "extra"'])
})

it('requires the permissions of the real request [P197]', async () => {
  const readers: Authorizer = {
    authorize: async ({ verb }) => (verb === 'get' ? { decision: 'allow', reason: '' } : { decision: 'deny', reason: '' }),
  } as Authorizer
  await using guarded = await startApi({ authorizer: readers })
  const user = { username: 'reader', groups: ['system:authenticated'] }
  for (const [method, path] of [
    ['POST', configMaps],
    ['PUT', `${configMaps}/a`],
    ['PATCH', `${configMaps}/a`],
    ['DELETE', `${configMaps}/a`],
    ['DELETE', configMaps],
  ] as const) {
    const options = {
      user,
      body: configMap('a'),
      headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
    }
    const real = await guarded.send(method, path, options)
    const dry = await guarded.send(method, path, { ...options, query })
    expect([real.status, dry.status, dry.json.message], `${method} ${path}`).toEqual([403, 403, real.json.message])
  }
})

it('plugins with side effects see the dry run, and may refuse it', async () => {
  const effects: string[] = []
  const mailing: AdmissionPlugin = {
    name: 'Mailing',
    handles: ({ operation, resource }) => operation === 'CREATE' && resource.resource === 'configmaps',
    validate(object, { dryRun }) {
      if (dryRun) throw ApiError.badRequest('admission plugin "Mailing" has side effects: it takes no dry run')
      effects.push(object?.metadata.name ?? '')
    },
  }
  await using mailed = await startApi({ admission: [mailing] })
  const refused = await mailed.post(configMaps, configMap('a'), { query })
  expect(refused.json).toMatchObject({ code: 400, reason: 'BadRequest', message: expect.stringContaining('side effects') })
  expect(effects).toEqual([])
  expect((await mailed.post(configMaps, configMap('a'))).status).toBe(201)
  expect(effects).toEqual(['a'])
})

it('generated values may differ from the real request [P199]', async () => {
  const services = '/api/v1/namespaces/default/services'
  const node = { metadata: { name: 's' }, spec: { type: 'NodePort', ports: [{ port: 80 }] } }
  const dry = (await api.post(services, node, { query })).json
  api.clock.advance(2_000)
  const real = (await api.post(services, node)).json
  for (const one of [dry, real]) {
    expect(one.metadata.uid).toMatch(/^[0-9a-f-]{36}$/)
    expect(one.spec.clusterIP).toMatch(/^10\.0\.0\.\d+$/)
  }
  expect(real.metadata.uid).not.toBe(dry.metadata.uid)
  expect(real.metadata.creationTimestamp).not.toBe(dry.metadata.creationTimestamp)
  const generated = (await api.post(configMaps, { metadata: { generateName: 'g-' } }, { query })).json.metadata.name
  expect(generated).toMatch(/^g-.{5}$/)
  expect((await api.get(`${configMaps}/${generated}`)).status).toBe(404)
  // A dry run takes no address: it shows the base of the network, which is never assigned, as on kube-apiserver.
  expect([dry.spec.clusterIP, real.spec.clusterIP === dry.spec.clusterIP]).toEqual(['10.0.0.0', false])
})
