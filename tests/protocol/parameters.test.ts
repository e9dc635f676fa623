import { createCatalog } from '@krmkit/kinds'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { configMap, configMaps, names, startApi, type TestApi } from './server.ts'

/** Parameters of verbs. @see API protocol specification, 4.1 */

const secrets = '/api/v1/namespaces/default/secrets'
const catalog = createCatalog()

describe('parameters', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await startApi({ types: catalog.types })
    for (const [name, labels] of Object.entries({ a: { app: 'x', tier: 'front' }, b: { app: 'y' }, c: {} }))
      await api.post(secrets, { metadata: { name, labels }, type: `example.com/${name}` })
  })
  afterAll(() => api.close())

  it.each([
    ['app=x', ['a']],
    ['app==x', ['a']],
    ['app!=x', ['b', 'c']],
    ['app', ['a', 'b']],
    ['!app', ['c']],
    ['app in (x,y),tier', ['a']],
    ['app notin (x)', ['b', 'c']],
    ['app in (z)', []],
    ['', ['a', 'b', 'c']],
  ])('labelSelector %s [P158]', async (labelSelector, expected) => {
    expect(names((await api.get(secrets, { labelSelector })).json)).toEqual(expected)
  })

  it.each([
    ['metadata.name=b', ['b']],
    ['metadata.name!=b', ['a', 'c']],
    ['metadata.namespace=default,type=example.com/c', ['c']],
    ['metadata.namespace=other', []],
    ['type!=example.com/c', ['a', 'b']],
    ['', ['a', 'b', 'c']],
  ])('fieldSelector %s [P157]', async (fieldSelector, expected) => {
    expect(names((await api.get(secrets, { fieldSelector })).json)).toEqual(expected)
  })

  it('invalid selectors are rejected [P157, P158]', async () => {
    for (const query of [
      { labelSelector: 'a=(' },
      { labelSelector: '-=x' },
      { fieldSelector: 'metadata.name' },
      { fieldSelector: 'data.k=v' },
    ]) {
      expect((await api.get(secrets, query)).json, JSON.stringify(query)).toMatchObject({ code: 400, reason: 'BadRequest' })
    }
  })

  it('fieldManager has at most 128 printable characters [P163]', async () => {
    const made = await api.post(configMaps, configMap('p163', { data: { a: 'b' } }), { query: { fieldManager: 'm'.repeat(128) } })
    expect(made.json.metadata.managedFields[0]?.manager).toBe('m'.repeat(128))
    for (const fieldManager of ['m'.repeat(129), 'a\u0007b']) {
      expect((await api.post(configMaps, configMap('x'), { query: { fieldManager } })).json).toMatchObject({
        code: 422,
        details: { causes: [{ field: 'fieldManager' }] },
      })
    }
  })

  it('fieldValidation has three values [P162]', async () => {
    for (const fieldValidation of ['strict', 'None']) {
      expect((await api.post(configMaps, configMap('x'), { query: { fieldValidation } })).json).toMatchObject({
        code: 422,
        details: { causes: [{ field: 'fieldValidation' }] },
      })
    }
  })

  it('force is valid for apply only [P164]', async () => {
    const refused = await api.patch(`${secrets}/a`, {}, { query: { force: 'true' } })
    expect(refused.json).toMatchObject({ code: 422, details: { causes: [{ field: 'force' }] } })
    const apply = (fieldManager: string, value: string, force: string) =>
      api.send('PATCH', `${configMaps}/p164`, {
        query: { fieldManager, force },
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: configMap('p164', { data: { k: value } }),
      })
    expect((await apply('one', '1', 'false')).status).toBe(201)
    expect((await apply('two', '2', 'false')).json).toMatchObject({
      code: 409,
      reason: 'Conflict',
      details: { causes: [{ reason: 'FieldManagerConflict', field: '.data.k' }] },
    })
    expect((await apply('two', '2', 'true')).json.data).toEqual({ k: '2' })
  })

  it('dryRun is All or empty [P161]', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const path = method === 'POST' ? secrets : `${secrets}/a`
      const answer = await api.send(method, path, {
        query: { dryRun: 'Some' },
        body: method === 'DELETE' ? '' : { metadata: { name: 'a' } },
        headers: { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' },
      })
      expect(answer.json, method).toMatchObject({
        code: 422,
        details: { causes: [{ field: 'dryRun', reason: 'FieldValueNotSupported' }] },
      })
    }
    expect((await api.post(configMaps, configMap('p161'), { query: { dryRun: '' } })).status).toBe(201)
    expect((await api.get(`${configMaps}/p161`)).status).toBe(200)
    expect((await api.delete(`${configMaps}/p161`, { query: 'dryRun' })).status).toBe(200)
    expect((await api.get(`${configMaps}/p161`)).status).toBe(404)
  })

  it('events of the newer group: type, regarding, series, reporting members [P342]', async () => {
    const path = '/apis/events.k8s.io/v1/namespaces/default/events'
    const event = {
      metadata: { name: 'e' },
      eventTime: '2024-01-01T00:00:00.000000Z',
      type: 'Warning',
      reason: 'R',
      action: 'A',
      regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
      reportingController: 'example.com/c',
      reportingInstance: 'c-0',
      series: { count: 3, lastObservedTime: '2024-01-01T00:00:01.000000Z' },
    }
    const made = await api.post(path, event)
    expect([made.status, made.json]).toMatchObject([201, event])
    const core = (await api.get('/api/v1/namespaces/default/events/e')).json
    expect(core).toMatchObject({
      kind: 'Event',
      apiVersion: 'v1',
      involvedObject: event.regarding,
      type: 'Warning',
      reportingComponent: 'example.com/c',
      series: event.series,
    })
    expect((await api.post(path, { ...event, metadata: { name: 'f' }, type: 'Loud' })).json).toMatchObject({
      code: 422,
      details: { causes: [{ field: 'type' }] },
    })
    expect((await api.post(path, { ...event, metadata: { name: 'f' }, eventTime: null })).status).toBe(422)
  })
})
