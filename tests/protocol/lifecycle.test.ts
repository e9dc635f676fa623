import { createTestServer, type TestServer } from '@krmkit/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type Answer,
  administrator,
  configMap,
  configMaps,
  type Doc,
  eventsOf,
  names,
  type SendOptions,
  send,
  startApi,
  type TestApi,
} from './server.ts'

/** Deletion of objects. @see API protocol specification, 3 */

const pods = '/api/v1/namespaces/default/pods'
const finalizers = ['example.com/a', 'example.com/b', 'example.com/c']

describe('finalizers', () => {
  let api: TestApi
  const path = `${configMaps}/held`
  beforeEach(async () => {
    api = await startApi()
    await api.post(configMaps, { metadata: { name: 'held', finalizers } })
    return () => api.close()
  })
  const letGo = (left: readonly string[]) => api.patch(path, { metadata: { finalizers: left } })

  it('deletionTimestamp is the time of the first deletion [P15, P125]', async () => {
    api.clock.advance(7_000)
    const answer = await api.delete(path)
    expect([answer.status, answer.json.kind]).toEqual([200, 'Status'])
    const first = (await api.get(path)).json.metadata
    expect(first).toMatchObject({ deletionTimestamp: '2024-01-01T00:00:07Z', deletionGracePeriodSeconds: 0, finalizers })
    api.clock.advance(60_000)
    const again = await api.delete(path)
    expect(again.status).toBe(200)
    expect((await api.get(path)).json.metadata).toEqual(first)
    // The timestamp can be neither removed nor changed.
    await api.patch(path, { metadata: { deletionTimestamp: null } })
    expect((await api.get(path)).json.metadata.deletionTimestamp).toBe(first.deletionTimestamp)
    expect((await api.post(configMaps, configMap('held'))).json).toMatchObject({
      code: 409,
      message: expect.stringContaining('object is being deleted'),
    })
  })

  it('clients cannot set deletionTimestamp [P125]', async () => {
    const marked = await api.patch(path, { metadata: { deletionTimestamp: '2030-01-01T00:00:00Z' } })
    expect(marked.json.metadata?.deletionTimestamp).toBeUndefined()
    expect((await api.get(path)).json.metadata.deletionTimestamp).toBeUndefined()
  })

  it('finalizers may be reordered and removed in any order [P16, P126]', async () => {
    expect((await letGo([...finalizers].reverse())).json.metadata.finalizers).toEqual([...finalizers].reverse())
    await api.delete(path)
    expect((await letGo(['example.com/a', 'example.com/b', 'example.com/c'])).json.metadata.finalizers).toEqual(finalizers)
    for (const left of [['example.com/a', 'example.com/c'], ['example.com/c']]) {
      expect((await letGo(left)).json.metadata.finalizers).toEqual(left)
      expect((await api.get(path)).status).toBe(200)
    }
    // No finalizer can be added.
    const added = await letGo(['example.com/c', 'example.com/new'])
    expect(added.json).toMatchObject({
      code: 422,
      details: {
        causes: expect.arrayContaining([
          expect.objectContaining({ field: 'metadata.finalizers', reason: 'FieldValueForbidden' }),
        ]),
      },
    })
  })

  it.each(['patch', 'put'] as const)('the object is removed with its last finalizer: %s [P127]', async (how) => {
    await api.delete(path)
    const watch = await api.watch(configMaps, { resourceVersion: String(api.storage.revision) })
    const live = (await api.get(path)).json
    const last =
      how === 'patch' ? await letGo([]) : await api.put(path, { ...live, metadata: { ...live.metadata, finalizers: [] } })
    expect([last.status, last.json.metadata.name]).toEqual([200, 'held'])
    expect((await api.get(path)).status).toBe(404)
    const [event] = await watch.take(1)
    expect(event).toMatchObject({
      type: 'DELETED',
      object: { metadata: { name: 'held', resourceVersion: String(api.storage.revision) } },
    })
    await watch.leave()
    expect((await api.post(configMaps, configMap('held'))).status).toBe(201)
  })

  it('removing the last finalizer of a live object keeps it [P127]', async () => {
    expect((await letGo([])).status).toBe(200)
    expect((await api.get(path)).status).toBe(200)
    await api.delete(path)
    expect((await api.get(path)).status).toBe(404)
  })

  it('deletecollection marks objects with finalizers and removes the others [P125, P148]', async () => {
    await api.post(configMaps, configMap('free'))
    expect((await api.delete(configMaps)).status).toBe(200)
    const { json } = await api.get(configMaps)
    expect(names(json)).toEqual(['held'])
    expect(json.items[0]?.metadata.deletionTimestamp).toBeDefined()
  })

  it('a watch reports the mark as MODIFIED and the removal as DELETED [P28, P125]', async () => {
    const watch = await api.watch(configMaps, { resourceVersion: String(api.storage.revision) })
    await api.delete(path)
    await letGo(['example.com/b'])
    await letGo([])
    expect(eventsOf(await watch.take(3))).toEqual(['MODIFIED held', 'MODIFIED held', 'DELETED held'])
    await watch.leave()
  })
})

describe('grace periods', () => {
  let api: TestApi
  const path = `${pods}/p`
  beforeEach(async () => {
    api = await startApi()
    await api.post(pods, { metadata: { name: 'p' }, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } })
    return () => api.close()
  })
  const metadata = async () => (await api.get(path)).json.metadata

  it('a pod exists for its grace period; a later deletion can only shorten it [P15, P165]', async () => {
    await api.delete(path)
    expect(await metadata()).toMatchObject({ deletionGracePeriodSeconds: 30, deletionTimestamp: '2024-01-01T00:00:30Z' })
    await api.delete(path, { query: { gracePeriodSeconds: '5' } })
    expect(await metadata()).toMatchObject({ deletionGracePeriodSeconds: 5, deletionTimestamp: '2024-01-01T00:00:05Z' })
    await api.delete(path, { query: { gracePeriodSeconds: '60' } })
    expect(await metadata()).toMatchObject({ deletionGracePeriodSeconds: 5 })
    // The kubelet completes the deletion.
    expect((await api.delete(path, { body: { gracePeriodSeconds: 0 } })).status).toBe(200)
    expect((await api.get(path)).status).toBe(404)
  })

  it('gracePeriodSeconds=0 deletes immediately; the body takes precedence over the query [P165]', async () => {
    await api.delete(path, {
      query: { gracePeriodSeconds: '0' },
      body: { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 7 },
    })
    expect(await metadata()).toMatchObject({ deletionGracePeriodSeconds: 7 })
    await api.delete(path, { query: { gracePeriodSeconds: '0' } })
    expect((await api.get(path)).status).toBe(404)
    expect((await api.delete(path, { query: { gracePeriodSeconds: 'soon' } })).status).toBe(400)
    // Other kinds have no grace period.
    await api.post(configMaps, configMap('a'))
    await api.delete(`${configMaps}/a`, { query: { gracePeriodSeconds: '60' } })
    expect((await api.get(`${configMaps}/a`)).status).toBe(404)
  })
})

describe('propagation', () => {
  let api: TestApi
  beforeEach(async () => {
    api = await startApi()
    await api.post(configMaps, configMap('a'))
    return () => api.close()
  })
  const path = `${configMaps}/a`

  it.each([
    ['Foreground', ['foregroundDeletion']],
    ['Orphan', ['orphan']],
    ['Background', undefined],
  ] as const)('propagationPolicy=%s [P166]', async (propagationPolicy, held) => {
    expect((await api.delete(path, { query: { propagationPolicy } })).status).toBe(200)
    const { status, json } = await api.get(path)
    expect([status, json.metadata?.finalizers]).toEqual(held === undefined ? [404, undefined] : [200, held])
  })

  it('orphanDependents works, and conflicts with propagationPolicy [P166]', async () => {
    const both = await api.delete(path, { query: { propagationPolicy: 'Orphan', orphanDependents: 'true' } })
    expect(both.json).toMatchObject({ code: 422, details: { causes: [{ field: 'propagationPolicy' }] } })
    expect((await api.delete(path, { query: { propagationPolicy: 'Sideways' } })).json).toMatchObject({ code: 422 })
    await api.delete(path, { query: { orphanDependents: 'true' } })
    expect((await api.get(path)).json.metadata.finalizers).toEqual(['orphan'])
  })
})

describe('with controllers', () => {
  let cluster: TestServer
  const call = (method: string, path: string, options: SendOptions = {}): Promise<Answer> =>
    send(cluster.handle, method, path, { user: administrator, ...options })
  const get = async (path: string): Promise<Answer> => call('GET', path)
  beforeEach(async () => {
    cluster = await createTestServer({ seed: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } }] })
  })
  afterEach(() => cluster.close())
  const inside = '/api/v1/namespaces/n/configmaps'

  it('deletion of a namespace deletes its content [P9, P128]', async () => {
    for (const name of ['a', 'b']) await call('POST', inside, { body: configMap(name) })
    await call('POST', '/api/v1/namespaces/n/secrets', { body: { metadata: { name: 's' } } })
    await call('POST', configMaps, { body: configMap('elsewhere') })
    const answer = await call('DELETE', '/api/v1/namespaces/n')
    expect([answer.status, answer.json.kind, answer.json.status]).toMatchObject([200, 'Namespace', { phase: 'Terminating' }])
    await cluster.settle()
    expect((await get('/api/v1/namespaces/n')).status).toBe(404)
    expect((await get(inside)).json.items).toEqual([])
    expect((await get('/api/v1/namespaces/n/secrets')).json.items).toEqual([])
    expect(names((await get(configMaps)).json)).toContain('elsewhere')
  })

  it('a terminating namespace waits for finalizers and accepts no new objects [P128, P129]', async () => {
    await call('POST', inside, { body: { metadata: { name: 'held', finalizers: ['example.com/a'] } } })
    await call('DELETE', '/api/v1/namespaces/n')
    await cluster.settle()
    const waiting = (await get('/api/v1/namespaces/n')).json
    expect(waiting.status).toMatchObject({
      phase: 'Terminating',
      conditions: expect.arrayContaining([expect.objectContaining({ type: 'NamespaceFinalizersRemaining', status: 'True' })]),
    })
    const refused = await call('POST', inside, { body: configMap('new') })
    expect(refused.json).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      details: { causes: [{ reason: 'NamespaceTerminating', field: 'metadata.namespace' }] },
    })
    // Existing objects can still be updated.
    const merge = { 'content-type': 'application/merge-patch+json' }
    expect((await call('PATCH', `${inside}/held`, { body: { data: { a: 'b' } }, headers: merge })).status).toBe(200)
    await call('PATCH', `${inside}/held`, { body: { metadata: { finalizers: null } }, headers: merge })
    await cluster.clock.advance({ minutes: 5 })
    expect((await get('/api/v1/namespaces/n')).status).toBe(404)
    expect((await call('POST', '/api/v1/namespaces', { body: { metadata: { name: 'n' } } })).status).toBe(201)
  })

  it('creation in a missing namespace fails [P129]', async () => {
    const missing = await call('POST', '/api/v1/namespaces/none/configmaps', { body: configMap('a') })
    expect(missing.json).toMatchObject({ code: 404, reason: 'NotFound', details: { kind: 'namespaces', name: 'none' } })
  })

  it('the default, system and public namespaces cannot be deleted [P130]', async () => {
    for (const name of ['default', 'kube-system', 'kube-public']) {
      const refused = await call('DELETE', `/api/v1/namespaces/${name}`)
      expect(refused.json, name).toMatchObject({
        code: 403,
        reason: 'Forbidden',
        message: expect.stringContaining('this namespace may not be deleted'),
      })
      expect((await get(`/api/v1/namespaces/${name}`)).json.metadata.deletionTimestamp).toBeUndefined()
    }
  })

  it('dependents are deleted in the background, in the foreground, or orphaned [P19, P166]', async () => {
    const family = async (name: string, propagationPolicy: string): Promise<Doc | undefined> => {
      const { uid } = (await call('POST', inside, { body: configMap(name) })).json.metadata
      const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid, blockOwnerDeletion: true }]
      await call('POST', inside, {
        body: { metadata: { name: `${name}-child`, ownerReferences, finalizers: name === 'fore' ? ['example.com/a'] : [] } },
      })
      await cluster.settle()
      await call('DELETE', `${inside}/${name}`, { query: { propagationPolicy } })
      await cluster.settle()
      const child = await get(`${inside}/${name}-child`)
      return child.status === 200 ? child.json : undefined
    }
    expect(await family('back', 'Background')).toBeUndefined()
    const orphan = await family('left', 'Orphan')
    expect([orphan?.metadata.name, orphan?.metadata.ownerReferences]).toEqual(['left-child', undefined])
    const child = await family('fore', 'Foreground')
    expect(child?.metadata.deletionTimestamp).toBeDefined()
    // The owner waits for the blocking child.
    expect((await get(`${inside}/fore`)).json.metadata.finalizers).toEqual(['foregroundDeletion'])
    await call('PATCH', `${inside}/fore-child`, {
      body: { metadata: { finalizers: null } },
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    await cluster.settle()
    expect((await get(`${inside}/fore`)).status).toBe(404)
    expect((await get(`${inside}/left`)).status).toBe(404)
  })
})
