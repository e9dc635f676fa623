import { createInformer } from '@krmkit/client'
import { describe, expect, it } from 'vitest'
import { configMaps, namespaces, secrets, serviceAccounts } from './resources.fixture.ts'
import { createTestServer } from './test-server.ts'

const made = (name: string) => ({ metadata: { name } })

describe('faults', () => {
  it('fail only the next matching request', async () => {
    await using cluster = await createTestServer({ controllers: [] })
    const { client, faults } = cluster
    faults.next(
      { verb: 'create', resource: 'configmaps' },
      { fail: 409, reason: 'Conflict', message: 'another writer was first' },
    )
    await client.create(secrets, made('a'))
    await expect(client.create(configMaps, made('a'))).rejects.toMatchObject({
      reason: 'Conflict',
      code: 409,
      message: 'another writer was first',
    })
    await client.create(configMaps, made('a'))
    expect(faults.pending).toBe(0)
    expect(cluster.ledger.find({ resource: 'configmaps' }).map(({ code }) => code)).toEqual([409, 201])
  })

  it('apply times and after, until cancelled', async () => {
    await using cluster = await createTestServer({ controllers: [] })
    const { client, faults } = cluster
    faults.next({ verb: 'list' }, { fail: 503 }, { times: 2, after: 1 })
    const codes: number[] = []
    for (let i = 0; i < 4; i++) codes.push((await client.request({ path: '/api/v1/configmaps' })).status)
    expect(codes).toEqual([200, 503, 503, 200])
    faults.next({ verb: 'list' }, { fail: 503 })()
    expect((await client.request({ path: '/api/v1/configmaps' })).status).toBe(200)
  })

  it('can set Retry-After, which clients follow on the test clock', async () => {
    await using cluster = await createTestServer({ controllers: [] })
    cluster.faults.next({ verb: 'create' }, { fail: 429, reason: 'TooManyRequests', retryAfterSeconds: 30 })
    const created = cluster.client.create(configMaps, made('a'))
    const start = cluster.clock.now()
    await cluster.clock.advance({ minutes: 1 })
    await created
    expect(cluster.ledger.find({ verb: 'create' }).map(({ code, atMs }) => [code, atMs - start])).toEqual([
      [429, 0],
      [201, 30_000],
    ])
  })

  it('lose the response after or before the request is processed', async () => {
    await using cluster = await createTestServer({ controllers: [] })
    const { client, faults } = cluster
    faults.next({ verb: 'create' }, { lose: true })
    await expect(client.create(configMaps, made('done'))).rejects.toMatchObject({ code: 'Unreachable' })
    faults.next({ verb: 'create' }, { unreachable: true })
    await expect(client.create(configMaps, made('not-done'))).rejects.toMatchObject({ code: 'Unreachable' })
    expect((await client.list(configMaps)).items.map(({ metadata }) => metadata.name)).toEqual(['done'])
    expect(cluster.ledger.find({ verb: 'create' }).map(({ code }) => code)).toEqual([0, 0])
  })

  it('drop watches, which resume without losing events', async () => {
    await using cluster = await createTestServer({ controllers: [] })
    const { client, faults, clock } = cluster
    const copy = createInformer(client, configMaps, { clock })
    await copy.synced
    await client.create(configMaps, made('a'))
    await cluster.settle()
    expect(faults.dropWatches({ resource: 'secrets' })).toBe(0)
    expect(faults.dropWatches({ resource: 'configmaps' })).toBe(1)
    await client.create(configMaps, made('b'))
    await client.delete(configMaps, 'a')
    await clock.advance({ minutes: 1 })
    expect(copy.list().map(({ metadata }) => metadata.name)).toEqual(['b'])
    expect(faults.dropWatches()).toBe(1)
    await copy.stop()
    expect(faults.dropWatches()).toBe(0)
  })

  it('do not affect controllers unless they are named', async () => {
    const errors: unknown[] = []
    await using cluster = await createTestServer({ onError: (error) => errors.push(error) })
    const { client, faults, clock } = cluster
    const account = { verb: 'create', resource: 'serviceaccounts' }
    faults.next(account, { fail: 500 })
    await client.create(namespaces, made('spared'))
    await cluster.settle()
    await client.get(serviceAccounts, 'default', { namespace: 'spared' })
    faults.clear()
    faults.next({ ...account, user: 'system:kube-controller-manager' }, { fail: 500 }, { times: 3 })
    await client.create(namespaces, made('hit'))
    await cluster.settle()
    await expect(client.get(serviceAccounts, 'default', { namespace: 'hit' })).rejects.toMatchObject({ reason: 'NotFound' })
    await clock.advance({ seconds: 1 })
    await client.get(serviceAccounts, 'default', { namespace: 'hit' })
    expect(errors).toHaveLength(3)
  })
})
