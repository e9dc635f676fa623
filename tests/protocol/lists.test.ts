import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { asPartialList, asTable, configMap, configMaps, names, startApi, type TestApi } from './server.ts'

/** Collections and lists in chunks. @see API protocol specification, 2.3 and 4.3 */

const secrets = '/api/v1/namespaces/default/secrets'

describe('collections', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await startApi()
    await api.post('/api/v1/namespaces', { metadata: { name: 'other' } })
    for (const name of ['a', 'b', 'c']) await api.post(secrets, { metadata: { name, labels: { name } } })
    await api.post('/api/v1/namespaces/other/secrets', { metadata: { name: 'd' } })
  })
  afterAll(() => api.close())

  it('a list has kind, apiVersion, metadata and items without kind and apiVersion [P21]', async () => {
    const { json } = await api.get(secrets)
    expect(Object.keys(json)).toEqual(['kind', 'apiVersion', 'metadata', 'items'])
    expect(json).toMatchObject({ kind: 'SecretList', apiVersion: 'v1' })
    expect(names(json)).toEqual(['a', 'b', 'c'])
    expect(json.items.every((item) => item.kind === undefined && item.apiVersion === undefined)).toBe(true)
    expect((await api.get('/apis/apps/v1/deployments')).json).toMatchObject({
      kind: 'DeploymentList',
      apiVersion: 'apps/v1',
      items: [],
    })
  })

  it('the list kind of every resource is its kind with the suffix List [P21]', async () => {
    const listed = api.server.registry.definitions.filter(({ resource }) => resource.verbs.includes('list'))
    expect(listed.length).toBeGreaterThan(50)
    for (const { group, version, resource, kind } of listed) {
      const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
      const { status, json } = await api.get(`${root}/${resource.name}`)
      expect([status, json.kind, json.apiVersion, Array.isArray(json.items)], resource.name).toEqual([
        200,
        `${kind.kind}List`,
        group === '' ? version : `${group}/${version}`,
        true,
      ])
    }
  })

  it('the resourceVersion of a list is that of the store, and a watch from it misses nothing [P22]', async () => {
    await api.post(configMaps, configMap('elsewhere'))
    const { resourceVersion } = (await api.get(secrets)).json.metadata
    expect(resourceVersion).toBe(String(api.storage.revision))
    await api.post(secrets, { metadata: { name: 'p22' } })
    const watch = await api.watch(secrets, { resourceVersion })
    expect((await watch.take(1)).map(({ object }) => object.metadata.name)).toEqual(['p22'])
    await watch.leave()
    await api.delete(`${secrets}/p22`)
  })

  it('continue is empty on the last chunk [P23]', async () => {
    const first = (await api.get(secrets, { limit: '2' })).json
    expect(first.metadata.continue).toMatch(/^[\w-]+$/)
    const second = (await api.get(secrets, { limit: '2', continue: first.metadata.continue })).json
    expect([names(first), names(second), second.metadata.continue]).toEqual([['a', 'b'], ['c'], ''])
    expect((await api.get(secrets)).json.metadata.continue).toBe('')
  })

  it('remainingItemCount counts the remaining items, and is absent on the last chunk [P24, P26]', async () => {
    const counts = []
    for (let token = ''; ; ) {
      const { metadata } = (await api.get(secrets, { limit: '1', continue: token })).json
      counts.push(metadata.remainingItemCount)
      token = metadata.continue
      if (token === '') break
    }
    expect(counts).toEqual([2, 1, undefined])
    expect((await api.get(secrets)).json.metadata).not.toHaveProperty('remainingItemCount')
    expect((await api.get(secrets, { limit: '3' })).json.metadata).not.toHaveProperty('remainingItemCount')
    expect((await api.get(secrets, { limit: '1' }, asPartialList)).json.metadata.remainingItemCount).toBe(2)
    expect((await api.get(secrets, { limit: '1' }, asTable)).json.metadata.remainingItemCount).toBe(2)
  })

  it('remainingItemCount is absent with selectors [P25]', async () => {
    for (const query of [
      { labelSelector: 'name' },
      { fieldSelector: 'metadata.namespace=default' },
      { labelSelector: 'name', fieldSelector: 'type!=x' },
    ]) {
      const { metadata } = (await api.get(secrets, { limit: '1', ...query })).json
      expect(metadata.continue, JSON.stringify(query)).not.toBe('')
      expect(metadata, JSON.stringify(query)).not.toHaveProperty('remainingItemCount')
    }
  })

  it('rejects objects of kind List [P27]', async () => {
    const sent = await api.post(secrets, {
      kind: 'List',
      apiVersion: 'v1',
      items: [{ kind: 'Secret', apiVersion: 'v1', metadata: { name: 'x' } }],
    })
    expect([sent.status, sent.json.reason]).toEqual([400, 'BadRequest'])
    for (const path of ['/api/v1/lists', '/api/v1/namespaces/default/lists']) expect((await api.get(path)).status, path).toBe(404)
    expect((await api.get(`${secrets}/x`)).status).toBe(404)
  })

  it('a namespaced resource is listed in all or one namespace [P139]', async () => {
    expect(names((await api.get('/api/v1/secrets')).json)).toEqual(['a', 'b', 'c', 'd'])
    expect(names((await api.get('/api/v1/namespaces/other/secrets')).json)).toEqual(['d'])
    // A missing namespace has an empty list.
    expect((await api.get('/api/v1/namespaces/missing/secrets')).json).toMatchObject({ kind: 'SecretList', items: [] })
    expect((await api.get('/api/v1/namespaces/default/nodes')).status).toBe(404)
  })
})

describe('chunks', () => {
  let api: TestApi
  beforeEach(async () => {
    api = await startApi({ history: { historyMs: 300_000, minHistoryMs: 0 } })
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      await api.post(secrets, { metadata: { name, labels: { even: String('bd'.includes(name)) } } })
    return () => api.close()
  })
  const chunk = async (query: Record<string, string>) => (await api.get(secrets, query)).json
  const disturb = async () => {
    await api.delete(`${secrets}/c`)
    await api.post(secrets, { metadata: { name: 'cc' } })
    await api.patch(`${secrets}/e`, { metadata: { labels: { changed: 'yes' } } })
  }

  it.each([0, 1, 2, 3, 5, 6, 500])('limit=%i bounds each chunk [P156, P185]', async (limit) => {
    const chunks: string[][] = []
    let token = ''
    do {
      const json = await chunk({ limit: String(limit), continue: token })
      chunks.push(names(json))
      token = json.metadata.continue
    } while (token !== '')
    expect(chunks.flat()).toEqual(['a', 'b', 'c', 'd', 'e'])
    for (const one of chunks) expect(one.length).toBeLessThanOrEqual(limit === 0 ? 5 : limit)
    expect(chunks.length).toBe(limit === 0 ? 1 : Math.ceil(5 / limit))
  })

  it('limit applies to lists at version 0, too [P185]', async () => {
    const json = await chunk({ limit: '2', resourceVersion: '0' })
    expect([names(json), json.metadata.remainingItemCount]).toEqual([['a', 'b'], 3])
  })

  it('limit applies after selectors [P185]', async () => {
    const first = await chunk({ limit: '1', labelSelector: 'even=true' })
    const second = await chunk({ limit: '1', labelSelector: 'even=true', continue: first.metadata.continue })
    expect([names(first), names(second), second.metadata.continue === '']).toEqual([['b'], ['d'], false])
    const last = await chunk({ limit: '1', labelSelector: 'even=true', continue: second.metadata.continue })
    expect([names(last), last.metadata.continue]).toEqual([[], ''])
  })

  it('all chunks have the version of one snapshot [P186, P187]', async () => {
    const first = await chunk({ limit: '2' })
    await disturb()
    const second = await chunk({ limit: '2', continue: first.metadata.continue })
    const third = await chunk({ limit: '2', continue: second.metadata.continue })
    expect([names(first), names(second), names(third)]).toEqual([['a', 'b'], ['c', 'd'], ['e']])
    expect(third.items[0]?.metadata.labels).toEqual({ even: 'false' })
    expect([second.metadata.resourceVersion, third.metadata.resourceVersion]).toEqual([
      first.metadata.resourceVersion,
      first.metadata.resourceVersion,
    ])
    expect(second.metadata.remainingItemCount).toBe(1)
  })

  it('later changes appear only in a new list [P188]', async () => {
    const first = await chunk({ limit: '2' })
    await disturb()
    expect(names(await chunk({ limit: '500', continue: first.metadata.continue }))).toEqual(['c', 'd', 'e'])
    expect(names(await chunk({ limit: '500' }))).toEqual(['a', 'b', 'cc', 'd', 'e'])
  })

  it.each([
    ['words', 'x', /illegal base64|not valid/],
    ['another version', Buffer.from('{"v":"v2","rv":1,"start":"a"}').toString('base64url'), /does not recognize/],
    ['no version', Buffer.from('{"v":"meta.k8s.io/v1","start":"a"}').toString('base64url'), /resourceVersion/],
    ['no start', Buffer.from('{"v":"meta.k8s.io/v1","rv":1}').toString('base64url'), /encoded start key empty/],
    [
      'a way out of the collection',
      Buffer.from('{"v":"meta.k8s.io/v1","rv":3,"start":"../../configmaps/a"}').toString('base64url'),
      /not valid/,
    ],
    ['a list', Buffer.from('[]').toString('base64url'), /not valid/],
  ])('an invalid token is a bad request: %s [P156]', async (_, token, message) => {
    const answer = await api.get(secrets, { limit: '2', continue: token })
    expect([answer.status, answer.json.reason]).toEqual([400, 'BadRequest'])
    expect(answer.json.message).toMatch(message)
  })

  it('a token is bound to its collection [P156]', async () => {
    await api.post('/api/v1/namespaces', { metadata: { name: 'other' } })
    await api.post('/api/v1/namespaces/other/secrets', { metadata: { name: 'z' } })
    const { continue: token } = (await chunk({ limit: '1' })).metadata
    expect(names((await api.get('/api/v1/namespaces/other/configmaps', { continue: token })).json)).toEqual([])
  })

  it('an expired token is 410, with a fresh token to resume [P315]', async () => {
    const first = await chunk({ limit: '2' })
    await disturb()
    await api.storage.compact(api.storage.revision)
    const expired = await api.get(secrets, { limit: '2', continue: first.metadata.continue })
    expect([expired.status, expired.json.reason]).toEqual([410, 'Expired'])
    expect(expired.json.message).toMatch(/too old to display a consistent list/)
    const fresh = expired.json.metadata.continue
    expect(fresh).not.toBe(first.metadata.continue)
    // It reads the current state: inconsistent with the first chunk, but complete.
    const second = await chunk({ limit: '2', continue: fresh })
    expect(names(second)).toEqual(['cc', 'd'])
    expect(Number(second.metadata.resourceVersion)).toBeGreaterThan(Number(first.metadata.resourceVersion))
    const third = await chunk({ limit: '2', continue: second.metadata.continue })
    expect([names(third), third.metadata.continue]).toEqual([['e'], ''])
  })

  it('the fresh token survives the next compaction [P315]', async () => {
    const first = await chunk({ limit: '1' })
    await disturb()
    await api.storage.compact(api.storage.revision)
    const { continue: fresh } = (await api.get(secrets, { limit: '1', continue: first.metadata.continue })).json.metadata
    await api.post(configMaps, configMap('later'))
    await api.storage.compact(api.storage.revision)
    expect((await api.get(secrets, { limit: '1', continue: fresh })).status).toBe(200)
  })

  it('versions and tokens expire five minutes after a newer version [P323, P324]', async () => {
    const first = await chunk({ limit: '2' })
    const { resourceVersion } = first.metadata
    await disturb()
    const read = async () => [
      (await api.get(secrets, { limit: '2', continue: first.metadata.continue })).status,
      (await api.get(secrets, { resourceVersion, resourceVersionMatch: 'Exact' })).status,
    ]
    api.clock.advance(299_000)
    await api.post(configMaps, configMap('x'))
    expect(await read()).toEqual([200, 200])
    api.clock.advance(31_000)
    await api.post(configMaps, configMap('y'))
    expect(await read()).toEqual([410, 410])
  })
})
