import { describe, expect, it } from 'vitest'
import { Ledger, type LedgerEntry } from './ledger.ts'
import { configMaps, namespaces } from './resources.fixture.ts'
import { createTestServer } from './test-server.ts'

describe('ledger', () => {
  it('records requests with user and status', async () => {
    await using cluster = await createTestServer({ users: { bob: [{ verbs: ['*'], resources: ['*'] }] } })
    const bob = cluster.as('bob')
    await bob.create(configMaps, { metadata: { name: 'a' } })
    await expect(bob.create(configMaps, { metadata: { name: 'a' } })).rejects.toMatchObject({ reason: 'AlreadyExists' })
    await cluster.client.get(configMaps, 'a')
    const seen = cluster.ledger
      .find()
      .map(({ verb, resource, namespace, name, user, code }) => [verb, resource, namespace, name, user, code])
    expect(seen).toEqual([
      ['create', 'configmaps', 'default', '', 'bob', 201],
      ['create', 'configmaps', 'default', '', 'bob', 409],
      ['get', 'configmaps', 'default', 'a', 'test-admin', 200],
    ])
    expect(cluster.ledger.expect({ verb: 'create', user: 'bob', code: 201 }, 1)[0]).toMatchObject({
      method: 'POST',
      path: '/api/v1/namespaces/default/configmaps',
      atMs: cluster.clock.now(),
      userAgent: 'krmkit',
    })
    cluster.ledger.expectNone({ verb: 'delete' })
    cluster.ledger.clear()
    expect(cluster.ledger.count()).toBe(0)
  })

  it('drops the oldest traces when their bytes exceed the limit, and keeps the entries', () => {
    const ledger = new Ledger(100, 100, 1000)
    for (let i = 0; i < 20; i++) ledger.record({ trace: {}, body: {} } as unknown as LedgerEntry, i === 19 ? 5000 : 100)
    expect(ledger.entries.map(({ trace, body }) => trace !== undefined || body !== undefined)).toEqual([
      ...Array.from({ length: 19 }, () => false),
      true,
    ])
    ledger.clear()
    for (let i = 0; i < 11; i++) ledger.record({ trace: {} } as unknown as LedgerEntry, 100)
    expect(ledger.entries.filter(({ trace }) => trace !== undefined)).toHaveLength(7)
  })

  it('separates requests of controllers', async () => {
    await using cluster = await createTestServer()
    await cluster.client.create(namespaces, { metadata: { name: 'n' } })
    await cluster.settle()
    expect(cluster.ledger.count({ resource: 'serviceaccounts', verb: 'create' })).toBe(0)
    expect(cluster.ledger.count({ resource: 'serviceaccounts', verb: 'create', namespace: 'n', controllers: true })).toBe(1)
  })

  it('lists the last requests when an expectation fails', () => {
    const ledger = new Ledger()
    const place = { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'n', name: 'p' }
    const request = { method: 'GET', path: '/api/v1/namespaces/n/pods/p', query: 'pretty=1', verb: 'get', ...place }
    ledger.record({ ...request, user: 'bob', code: 404, atMs: 0, isController: false, userAgent: '' })
    expect(() => ledger.expect({ verb: ['create', 'update'], resource: 'pods', namespace: 'n', user: 'bob' })).toThrow(
      'expected at least one request matching "create|update pods in n by bob", found 0; the last requests were\n  404 get /api/v1/namespaces/n/pods/p?pretty=1 (bob)',
    )
    expect(() => ledger.expectNone({ path: /pods/ })).toThrow(expect.objectContaining({ code: 'Unexpected' }))
  })

  it('drops the oldest entries above the limit', () => {
    const ledger = new Ledger(100)
    const place = { group: '', version: '', resource: '', subresource: '', namespace: '' }
    const request = {
      method: 'GET',
      path: '/',
      query: '',
      verb: 'get',
      ...place,
      user: '',
      code: 200,
      isController: false,
      userAgent: '',
    }
    for (let i = 0; i < 1000; i++) ledger.record({ ...request, name: String(i), atMs: i })
    expect(ledger.entries.length).toBeLessThanOrEqual(125)
    expect(ledger.entries.at(-1)!.name).toBe('999')
  })
})
