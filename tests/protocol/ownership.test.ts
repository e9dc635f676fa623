import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { applyTo, data, deploymentSpec, deployments, type Owner, owners, pods } from './appliers.ts'
import { configMaps, startApi, startMs, type TestApi } from './server.ts'

/** Ownership of fields in writes other than applies. @see API protocol specification, 2.2 and 4.7 */

let api: TestApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.close())

const apply = (...[path, manager, rest, options]: Tail<typeof applyTo>) => applyTo(api, path, manager, rest, options)
type Tail<F> = F extends (first: TestApi, ...rest: infer R) => unknown ? R : never

describe('entries', () => {
  it('the server maintains owners, ignoring those of clients [P17]', async () => {
    const path = `${configMaps}/kept`
    await apply(path, 'alpha', { data: { k: 'v' } })
    const put = await api.put(path, { metadata: { name: 'kept' }, data: { k: 'v' } })
    expect(owners(put.json)).toEqual({ 'alpha Apply': data('k') })
    const emptied = await api.patch(path, { metadata: { managedFields: null } })
    expect(owners(emptied.json)).toEqual({ 'alpha Apply': data('k') })
  })

  it('an entry has manager, operation, version, time, fields and subresource [P20]', async () => {
    await apply(`${deployments}/told`, 'alpha', deploymentSpec('told'))
    api.clock.advance(5000)
    const status = await api.patch(
      `${deployments}/told/status`,
      { status: { observedGeneration: 1 } },
      { query: { fieldManager: 'ctl' } },
    )
    expect(status.json.metadata.managedFields).toEqual([
      {
        manager: 'alpha',
        operation: 'Apply',
        apiVersion: 'apps/v1',
        time: new Date(startMs).toISOString().replace('.000', ''),
        fieldsType: 'FieldsV1',
        fieldsV1: expect.objectContaining({ 'f:spec': expect.anything() }),
      },
      {
        manager: 'ctl',
        operation: 'Update',
        apiVersion: 'apps/v1',
        time: new Date(startMs + 5000).toISOString().replace('.000', ''),
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:status': { 'f:observedGeneration': {} } },
        subresource: 'status',
      },
    ])
  })

  it('times change only with owned fields, and no-op writes change nothing [P20]', async () => {
    const path = `${configMaps}/still`
    const made = await apply(path, 'alpha', { data: { k: 'v' } })
    api.clock.advance(60_000)
    const again = await apply(path, 'alpha', { data: { k: 'v' } })
    expect([again.status, again.text]).toEqual([200, made.text])
    const moved = await apply(path, 'alpha', { data: { k: 'w' } })
    const [before, after] = [made, moved].map(({ json }) => (json.metadata.managedFields[0] as unknown as Owner).time)
    expect(Date.parse(after ?? '') - Date.parse(before ?? '')).toBe(60_000)
  })
})

describe('updates', () => {
  it('an update takes sole ownership of its changes [P218]', async () => {
    const path = `${configMaps}/updated`
    await api.post(configMaps, { metadata: { name: 'updated' }, data: { k: 'v', l: 'v' } }, { query: { fieldManager: 'maker' } })
    const put = await api.put(
      path,
      { metadata: { name: 'updated' }, data: { k: 'w', l: 'v' } },
      { query: { fieldManager: 'putter' } },
    )
    expect(owners(put.json)).toEqual({
      'maker Update': { 'f:data': { '.': {}, 'f:l': {} } },
      'putter Update': { 'f:data': { 'f:k': {} } },
    })
    const gone = await api.patch(path, { data: { l: null } }, { query: { fieldManager: 'remover' } })
    expect(owners(gone.json)).toEqual({ 'maker Update': { 'f:data': {} }, 'putter Update': { 'f:data': { 'f:k': {} } } })
  })

  it('the default manager of an update is the user agent up to the slash [P219]', async () => {
    const made = await api.post(
      configMaps,
      { metadata: { name: 'agent' }, data: { k: 'v' } },
      { headers: { 'user-agent': 'tool/1.2 (linux)' } },
    )
    expect(Object.keys(owners(made.json))).toEqual(['tool Update'])
    const nameless = await api.post(configMaps, { metadata: { name: 'nameless' }, data: { k: 'v' } })
    expect(Object.keys(owners(nameless.json))).toEqual(['unknown Update'])
  })

  it('the oldest of many update entries are merged [P218]', async () => {
    const path = `${configMaps}/busy`
    await api.post(configMaps, { metadata: { name: 'busy' }, data: { first: 'v' } })
    for (let i = 0; i < 14; i++) {
      api.clock.advance(1000)
      await api.patch(path, { data: { [`k${i}`]: 'v' } }, { query: { fieldManager: `m${i}` } })
    }
    const names = (await api.get(path)).json.metadata.managedFields.map(({ manager }) => manager)
    expect(names).toEqual(['ancient-changes', ...Array.from({ length: 9 }, (_, i) => `m${i + 5}`)])
  })
})

describe('clearing', () => {
  const path = `${configMaps}/cleared`
  const start = () => apply(path, 'alpha', { data: { k: 'v' } }, { force: true })

  it('a list with one empty entry clears managedFields [P227]', async () => {
    await start()
    expect((await api.patch(path, { metadata: { managedFields: [{}] } })).json.metadata.managedFields).toBeUndefined()
    await start()
    const operations = [{ op: 'replace', path: '/metadata/managedFields', value: [{}] }]
    const patched = await api.patch(path, operations, { headers: { 'content-type': 'application/json-patch+json' } })
    expect(patched.json.metadata.managedFields).toBeUndefined()
  })

  it('an empty list clears nothing [P228]', async () => {
    await start()
    const answer = await api.patch(path, { metadata: { managedFields: [] } })
    expect(Object.keys(owners(answer.json))).toContain('alpha Apply')
  })

  it("clearing happens before the request's fields are owned [P229]", async () => {
    await start()
    const answer = await api.patch(
      path,
      { data: { l: 'w' }, metadata: { managedFields: [{}] } },
      { query: { fieldManager: 'bravo' } },
    )
    expect(Object.keys(owners(answer.json))).not.toContain('alpha Apply')
    expect(answer.json.data).toMatchObject({ k: 'v', l: 'w' })
  })
})

describe('sub-resources', () => {
  it('writes through subresources of other types have no owner [P230]', async () => {
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    const made = await api.post(pods, { metadata: { name: 'bound' }, spec }, { query: { fieldManager: 'maker' } })
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'bound' }, target: { kind: 'Node', name: 'n' } }
    expect((await api.post(`${pods}/bound/binding`, binding, { query: { fieldManager: 'scheduler' } })).status).toBe(201)
    const after = await api.get(`${pods}/bound`)
    expect(after.json.spec).toMatchObject({ nodeName: 'n' })
    expect(owners(after.json)).not.toHaveProperty('scheduler Update binding')
    expect(owners(after.json)['maker Update']).toEqual(owners(made.json)['maker Update'])
  })

  it('scaling takes ownership of replicas [P230]', async () => {
    const path = `${deployments}/scaled`
    await apply(path, 'alpha', deploymentSpec('scaled', { replicas: 1 }))
    const scaled = await api.patch(`${path}/scale`, { spec: { replicas: 3 } }, { query: { fieldManager: 'hpa' } })
    expect([scaled.status, scaled.json.kind]).toEqual([200, 'Scale'])
    const { json } = await api.get(path)
    expect(json.spec).toMatchObject({ replicas: 3 })
    expect(owners(json)['hpa Update scale']).toEqual({ 'f:spec': { 'f:replicas': {} } })
    expect(JSON.stringify(owners(json)['alpha Apply'])).not.toContain('f:replicas')
  })
})
