import { describe, expect, it } from 'vitest'
import { requestOf, send, startApi, type TestApi } from './server.ts'

/** Operations of the six storage and configuration kinds. @see Configuration and storage specification, 4 */

interface Kind {
  readonly kind: string
  readonly collection: string
  /** The path of lists over all namespaces. */
  readonly all?: string
  readonly rest: object
  /** An allowed change. */
  readonly status?: object
  readonly answersObject: boolean
}

const inNamespace = (plural: string) => ({ collection: `/api/v1/namespaces/default/${plural}`, all: `/api/v1/${plural}` })
const requests = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const volume = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/a' } }
const attachment = { attacher: 'd.example.com', nodeName: 'n', source: { persistentVolumeName: 'p' } }

const kinds: readonly Kind[] = [
  { kind: 'ConfigMap', ...inNamespace('configmaps'), rest: { data: { a: 'b' } }, answersObject: false },
  { kind: 'Secret', ...inNamespace('secrets'), rest: { data: { a: 'Yg==' } }, answersObject: false },
  { kind: 'PersistentVolumeClaim', ...inNamespace('persistentvolumeclaims'), rest: { spec: requests }, answersObject: true },
  {
    kind: 'PersistentVolume',
    collection: '/api/v1/persistentvolumes',
    rest: { spec: volume },
    status: { phase: 'Failed', reason: 'NoDisk', message: 'm' },
    answersObject: true,
  },
  {
    kind: 'StorageClass',
    collection: '/apis/storage.k8s.io/v1/storageclasses',
    rest: { provisioner: 'example.com/disk' },
    answersObject: true,
  },
  {
    kind: 'VolumeAttachment',
    collection: '/apis/storage.k8s.io/v1/volumeattachments',
    rest: { spec: attachment },
    status: { attached: true, attachmentMetadata: { a: 'b' } },
    answersObject: true,
  },
]
const withStatus = kinds.filter(({ status }) => status !== undefined)
const bodyOf = ({ kind, collection, rest }: Kind, metadata: object = {}) => ({
  apiVersion: collection.startsWith('/api/') ? 'v1' : 'storage.k8s.io/v1',
  kind,
  metadata: { name: 'a', ...metadata },
  ...rest,
})

async function withEach(of: readonly Kind[], check: (api: TestApi, kind: Kind) => Promise<void>): Promise<void> {
  for (const kind of of) {
    await using api = await startApi()
    await check(api, kind)
  }
}

describe('operations', () => {
  it('each kind has its paths, namespaced kinds also one for all namespaces [S100]', () =>
    withEach(kinds, async (api, { kind, collection, all, ...rest }) => {
      expect((await api.post(collection, bodyOf({ kind, collection, ...rest }))).status, kind).toBe(201)
      expect((await api.get(`${collection}/a`)).json).toMatchObject({ kind, metadata: { name: 'a' } })
      const everywhere = (await api.get(all ?? collection)).json
      expect([everywhere.kind, everywhere.items.map(({ metadata }) => metadata.name)]).toEqual([`${kind}List`, ['a']])
      if (all !== undefined) expect((await api.post(all, bodyOf({ kind, collection, ...rest }))).status).toBe(405)
    }))

  it('volumes and attachments have a status subresource [S101, S106, S108]', () =>
    withEach(withStatus, async (api, one) => {
      await api.post(one.collection, bodyOf(one))
      const at = `${one.collection}/a/status`
      const read = await api.get(at, { pretty: 'true' })
      expect([read.status, read.json.kind], one.kind).toEqual([200, one.kind])
      const put = await api.put(at, {
        ...read.json,
        metadata: { ...read.json.metadata, labels: { no: 'way' } },
        status: one.status,
      })
      expect([put.status, put.json.status]).toEqual([200, expect.objectContaining(one.status ?? {})])
      expect(put.json.spec).toEqual(read.json.spec)
      const dry = await api.patch(at, { status: { message: 'x', attached: false } }, { query: { dryRun: 'All' } })
      expect(dry.status).toBe(200)
      const patched = await api.patch(at, { status: one.kind === 'PersistentVolume' ? { reason: 'Other' } : { attached: false } })
      expect([patched.status, patched.json.status]).toEqual([
        200,
        expect.objectContaining(one.kind === 'PersistentVolume' ? { reason: 'Other', message: 'm' } : { attached: false }),
      ])
    }))

  it('get returns an object, also pretty [S102]', () =>
    withEach(kinds, async (api, one) => {
      const made = await api.post(one.collection, bodyOf(one))
      const read = await api.get(`${one.collection}/a`)
      const pretty = await api.get(`${one.collection}/a`, { pretty: 'true' })
      expect([read.status, read.json, pretty.json], one.kind).toEqual([200, made.json, made.json])
      expect(pretty.text.split('\n').length).toBeGreaterThan(read.text.split('\n').length)
    }))

  it('list supports selectors, chunks and versions [S103]', () =>
    withEach(kinds, async (api, one) => {
      for (const name of ['a', 'b', 'c'])
        await api.post(one.collection, bodyOf(one, { name, labels: { odd: String(name !== 'b') } }))
      const names = async (query: Record<string, string>) =>
        (await api.get(one.collection, query)).json.items.map(({ metadata }) => metadata.name)
      expect(await names({ labelSelector: 'odd=true' }), one.kind).toEqual(['a', 'c'])
      expect(await names({ fieldSelector: 'metadata.name=b' })).toEqual(['b'])
      const first = (await api.get(one.collection, { limit: '2' })).json
      expect(first.items).toHaveLength(2)
      expect(await names({ limit: '2', continue: first.metadata.continue })).toEqual(['c'])
      expect(await names({ resourceVersion: first.metadata.resourceVersion, resourceVersionMatch: 'Exact' })).toEqual([
        'a',
        'b',
        'c',
      ])
      const watch = await api.watch(one.collection, { allowWatchBookmarks: 'true', timeoutSeconds: '60' })
      expect((await watch.take(1))[0]?.type).toBe('ADDED')
      await watch.leave()
    }))

  it('create returns 201 with the object; a dry run stores nothing [S104]', () =>
    withEach(kinds, async (api, one) => {
      const dry = await api.post(one.collection, bodyOf(one), { query: { dryRun: 'All' } })
      expect([dry.status, dry.json.kind], one.kind).toEqual([201, one.kind])
      expect((await api.get(`${one.collection}/a`)).status).toBe(404)
      const made = await api.post(one.collection, bodyOf(one), {
        query: { fieldManager: 'me', fieldValidation: 'Strict', pretty: 'true' },
      })
      expect([made.status, made.json.metadata.managedFields[0]?.manager]).toEqual([201, 'me'])
      const strict = await api.post(
        one.collection,
        { ...bodyOf(one, { name: 'b' }), extra: 1 },
        { query: { fieldValidation: 'Strict' } },
      )
      expect(strict.status).toBe(400)
    }))

  it('replace returns 200 [S105]', () =>
    withEach(kinds, async (api, one) => {
      const made = (await api.post(one.collection, bodyOf(one))).json
      const next = { ...made, metadata: { ...made.metadata, labels: { a: 'b' } } }
      const put = await api.put(`${one.collection}/a`, next, { query: { fieldManager: 'me' } })
      expect([put.status, put.json.metadata.labels], one.kind).toEqual([200, { a: 'b' }])
      expect((await api.put(`${one.collection}/a`, next)).status).toBe(409)
    }))

  it('patch returns 200 [S107]', () =>
    withEach(kinds, async (api, one) => {
      await api.post(one.collection, bodyOf(one))
      const merged = await api.patch(`${one.collection}/a`, { metadata: { annotations: { a: 'b' } } })
      expect([merged.status, merged.json.metadata.annotations], one.kind).toEqual([200, { a: 'b' }])
      const body = [{ op: 'add', path: '/metadata/annotations/c', value: 'd' }]
      const headers = { 'content-type': 'application/json-patch+json' }
      expect((await api.patch(`${one.collection}/a`, body, { headers })).json.metadata.annotations).toEqual({ a: 'b', c: 'd' })
    }))

  it('deletion of a ConfigMap or Secret returns a Status [S109]', () =>
    withEach(
      kinds.filter(({ answersObject }) => !answersObject),
      async (api, one) => {
        const { uid } = (await api.post(one.collection, bodyOf(one))).json.metadata
        const gone = await api.delete(`${one.collection}/a`)
        expect([gone.status, gone.json.kind, gone.json.details], one.kind).toMatchObject([200, 'Status', { name: 'a', uid }])
        await api.post(one.collection, bodyOf(one, { finalizers: ['example.com/hold'] }))
        const held = await api.delete(`${one.collection}/a`, { body: { orphanDependents: false } })
        expect([held.status, held.json.kind]).toEqual([202, 'Status'])
        expect((await api.get(`${one.collection}/a`)).json.metadata.deletionTimestamp).toBeDefined()
      },
    ))

  it('deletion of a claim, volume, class or attachment returns the object, with 202 while finalizers remain [S110]', () =>
    withEach(
      kinds.filter(({ answersObject }) => answersObject),
      async (api, one) => {
        await api.post(one.collection, bodyOf(one))
        const gone = await api.delete(`${one.collection}/a`, { query: { gracePeriodSeconds: '0' } })
        expect([gone.status, gone.json.kind, gone.json.metadata.name], one.kind).toEqual([200, one.kind, 'a'])
        await api.post(one.collection, bodyOf(one, { finalizers: ['example.com/hold'] }))
        const held = await api.delete(`${one.collection}/a`, { body: { orphanDependents: false } })
        expect([held.status, held.json.kind, held.json.metadata.deletionTimestamp]).toEqual([202, one.kind, expect.any(String)])
      },
    ))

  it('deletecollection returns a Status [S111]', () =>
    withEach(kinds, async (api, one) => {
      for (const name of ['a', 'b']) await api.post(one.collection, bodyOf(one, { name, labels: { name } }))
      const some = await api.delete(one.collection, { query: { labelSelector: 'name=a' } })
      expect([some.status, some.json.kind, some.json.status], one.kind).toEqual([200, 'Status', 'Success'])
      expect((await api.get(one.collection)).json.items.map(({ metadata }) => metadata.name)).toEqual(['b'])
    }))

  it('every operation without credentials returns 401 [S112]', async () => {
    await using api = await startApi({ authenticator: { authenticate: async () => ({ kind: 'noOpinion' }) } })
    const anonymous = async (method: string, path: string, body?: object) => {
      const { user: _, ...request } = requestOf(method, path, body === undefined ? {} : { body })
      return send(() => api.server.handle(request), method, path)
    }
    for (const one of kinds) {
      const item = `${one.collection}/a`
      const operations: [string, string, object?][] = [
        ['GET', item],
        ['GET', one.collection],
        ['GET', `${one.collection}?watch=1`],
        ['POST', one.collection, bodyOf(one)],
        ['PUT', item, bodyOf(one)],
        ['PATCH', item, {}],
        ['DELETE', item],
        ['DELETE', one.collection],
        ...(one.status === undefined
          ? []
          : (['GET', 'PUT', 'PATCH'] as const).map((method): [string, string] => [method, `${item}/status`])),
      ]
      for (const [method, path, body] of operations) {
        const { status, json } = await anonymous(method, path, body)
        expect([status, json.reason], `${method} ${path}`).toEqual([401, 'Unauthorized'])
      }
    }
  })
})
