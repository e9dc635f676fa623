import { fileURLToPath } from 'node:url'
import { createInformer, createInProcessClient } from '@krmkit/client'
import { type ApiObject, fakeClock } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { configMaps, namesOf, namespaces, pods, secrets, serviceAccounts } from './resources.fixture.ts'
import { createTestServer } from './test-server.ts'

const folder = fileURLToPath(new URL('../testdata/manifests', import.meta.url))
const made = (name: string, data: Record<string, string> = {}) => ({ metadata: { name }, data })

describe('createTestServer', () => {
  it('starts settled with the seed applied', async () => {
    await using cluster = await createTestServer({ seed: folder })
    const { client } = cluster
    expect((await client.get(configMaps, 'settings', { namespace: 'team' })).data).toEqual({ text: 'one\n--- not an end\ntwo\n' })
    expect((await client.get(secrets, 'secret', { namespace: 'team' })).data).toEqual({ password: 'c2VzYW1l' })
    expect((await client.get(pods, 'web')).status).toMatchObject({
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True' }],
    })
    expect((await client.get(namespaces, 'labelled')).metadata.labels).toMatchObject({ tier: 'gold' })
    expect(namesOf(await client.list(serviceAccounts, { namespace: 'team' }))).toEqual(['default'])
  })

  it('accepts objects as a seed, and replaces objects that the server created', async () => {
    const labels = { tier: 'silver' }
    const seed: ApiObject[] = [
      { apiVersion: 'v1', kind: 'ConfigMap', ...made('a', { k: 'v' }) },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default', labels } },
    ]
    await using cluster = await createTestServer({ seed, controllers: [] })
    expect((await cluster.client.get(configMaps, 'a')).data).toEqual({ k: 'v' })
    expect((await cluster.client.get(namespaces, 'default')).metadata.labels).toMatchObject(labels)
  })

  it.each([
    ['a kind that is not served', { apiVersion: 'v1', kind: 'Nothing', metadata: { name: 'a' } }, 'Nothing'],
    ['a field that does not exist', { apiVersion: 'v1', kind: 'ConfigMap', ...made('a'), dat: {} }, 'dat'],
    ['an invalid name', { apiVersion: 'v1', kind: 'ConfigMap', ...made('A') }, 'metadata.name'],
  ])('rejects a seed with %s', async (_, object, text) => {
    const started = createTestServer({ seed: [object], controllers: [] })
    await expect(started).rejects.toMatchObject({ code: 'InvalidSeed', message: expect.stringContaining(text) })
  })

  it('runs alongside other servers in one process', async () => {
    const clusters = await Promise.all(['a', 'b', 'c'].map(() => createTestServer({ controllers: [] })))
    await Promise.all(clusters.map(({ client }, i) => client.create(configMaps, made(`of-${i}`))))
    const seen = await Promise.all(clusters.map(async ({ client }) => namesOf(await client.list(configMaps))))
    expect(seen).toEqual([['of-0'], ['of-1'], ['of-2']])
    await Promise.all(clusters.map((cluster) => cluster.close()))
  })

  it('leaves no timers when disposed', async () => {
    const clock = fakeClock(Date.UTC(2030, 0, 1))
    const cluster = await createTestServer({ clock })
    const copy = createInformer(cluster.client, configMaps, { clock })
    await copy.synced
    await cluster.client.create(namespaces, { metadata: { name: 'n' } })
    expect(clock.pending).toBeGreaterThan(0)
    await copy.stop()
    await cluster.close()
    expect(clock.pending).toBe(0)
    await expect(cluster.clock.advance({ hours: 1 })).rejects.toMatchObject({ code: 'RealClock' })
  })

  it('rejects requests after it was closed', async () => {
    const cluster = await createTestServer({ controllers: [] })
    const { handle, client } = cluster
    await cluster.close()
    await cluster.close()
    await expect(client.list(configMaps)).rejects.toMatchObject({ code: 'Closed' })
    await expect(createInProcessClient(handle).list(configMaps)).rejects.toMatchObject({ code: 'Closed' })
  })
})

describe('users', () => {
  const users = { bob: [{ verbs: ['get', 'list'], resources: ['configmaps'], namespaces: ['default'] }], root: 'all' as const }

  it('are authorized by their rules', async () => {
    await using cluster = await createTestServer({ users, controllers: [] })
    const bob = cluster.as('bob')
    expect(namesOf(await bob.list(configMaps, { namespace: 'default' }))).toEqual([])
    await expect(bob.list(configMaps)).rejects.toMatchObject({ reason: 'Forbidden' })
    await expect(bob.create(configMaps, made('a'))).rejects.toMatchObject({ reason: 'Forbidden' })
    await cluster.as('root').create(configMaps, made('a'))
    expect((await bob.get(configMaps, 'a')).metadata.name).toBe('a')
    expect(() => cluster.as('eve')).toThrow(expect.objectContaining({ code: 'UnknownUser' }))
    await expect(cluster.as({ username: 'eve', groups: [] }).get(configMaps, 'a')).rejects.toMatchObject({ reason: 'Forbidden' })
  })

  it('are authenticated on a port by their tokens', async () => {
    await using cluster = await createTestServer({ users, controllers: [] })
    const requests: number[] = []
    const port = await cluster.listen(async ({ handle }) => ({
      ask: async (token: string | undefined) => {
        const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
        const body = async () => new Uint8Array()
        const path = '/api/v1/namespaces/default/configmaps'
        const answer = await handle({
          method: 'GET',
          path,
          query: '',
          headers,
          body,
          peer: {},
          signal: new AbortController().signal,
        })
        requests.push(answer.status)
      },
      [Symbol.asyncDispose]: async () => {
        requests.push(0)
      },
    }))
    await port.ask(cluster.tokenOf('bob'))
    await port.ask('made-up')
    await port.ask(undefined)
    expect(requests).toEqual([200, 401, 403])
    expect(cluster.ledger.find({ resource: 'configmaps' }).map(({ user }) => user)).toEqual(['bob', '', 'system:anonymous'])
    await cluster.close()
    expect(requests.at(-1)).toBe(0)
  })
})

describe('fork', () => {
  it('shares the state at the fork and nothing else', async () => {
    await using cluster = await createTestServer()
    await cluster.client.create(configMaps, made('before'))
    await using fork = cluster.fork()
    await cluster.client.create(configMaps, made('here'))
    await fork.client.create(configMaps, made('there'))
    expect(namesOf(await cluster.client.list(configMaps))).toEqual(['before', 'here'])
    expect(namesOf(await fork.client.list(configMaps))).toEqual(['before', 'there'])
  })

  it('has a separate clock, ledger and faults', async () => {
    await using cluster = await createTestServer()
    await using fork = cluster.fork()
    const { now } = cluster.clock
    const before = now.call(cluster.clock)
    await fork.clock.advance({ hours: 25 })
    expect(fork.clock.now() - before).toBe(25 * 3_600_000)
    expect(cluster.clock.now()).toBe(before)
    cluster.faults.next({ verb: 'list' }, { fail: 500 })
    await fork.client.list(configMaps)
    expect(fork.ledger.count({ verb: 'list' })).toBe(1)
    expect(cluster.ledger.count({ verb: 'list' })).toBe(0)
  })

  it('outlives its origin, and can be forked and reset', async () => {
    const cluster = await createTestServer()
    await cluster.client.create(configMaps, made('a'))
    const fork = cluster.fork()
    await cluster.close()
    await fork.client.create(configMaps, made('b'))
    const second = fork.fork()
    await fork.reset()
    expect(namesOf(await fork.client.list(configMaps))).toEqual(['a'])
    expect(namesOf(await second.client.list(configMaps))).toEqual(['a', 'b'])
    await fork.close()
    await second.close()
  })
})

describe('reset', () => {
  it('restores objects, time, ledger and faults of the seed', async () => {
    await using cluster = await createTestServer({ seed: folder, startAtMs: Date.UTC(2030, 0, 1) })
    const { client } = cluster
    const { metadata } = await client.get(configMaps, 'settings', { namespace: 'team' })
    await client.delete(configMaps, 'settings', { namespace: 'team' })
    await client.create(configMaps, made('more'))
    await cluster.clock.advance({ days: 3 })
    cluster.faults.next({}, { fail: 500 })
    await cluster.reset()
    expect(cluster.clock.now()).toBe(Date.UTC(2030, 0, 1))
    expect(cluster.faults.pending).toBe(0)
    expect(cluster.ledger.entries).toEqual([])
    const list = await client.list(configMaps)
    expect(namesOf(list)).toEqual(['settings'])
    expect(list.items[0]!.metadata).toEqual(metadata)
  })

  it('ends watches, which resume with the restored state', async () => {
    await using cluster = await createTestServer({ controllers: [] })
    const { client, clock } = cluster
    const copy = createInformer(client, configMaps, { clock })
    await copy.synced
    await client.create(configMaps, made('a'))
    await cluster.settle()
    expect(copy.list()).toHaveLength(1)
    await cluster.reset()
    await client.create(configMaps, made('b'))
    await clock.advance({ minutes: 1 })
    expect(copy.list().map(({ metadata }) => metadata.name)).toEqual(['b'])
    await copy.stop()
  })
})

describe('settle', () => {
  it('waits for watch events and the requests that they cause', async () => {
    await using cluster = await createTestServer({ controllers: [] })
    const { client, clock } = cluster
    const copy = createInformer(client, configMaps, { clock })
    // A minimal operator: each object creates the next one.
    copy.on({
      added: ({ metadata: { name = '' } }) => {
        if (name.length < 6) void client.create(configMaps, made(`${name}x`))
      },
    })
    await copy.synced
    await client.create(configMaps, made('a'))
    await cluster.settle()
    expect(copy.list()).toHaveLength(6)
    await copy.stop()
  })

  it('does not wait for timers', async () => {
    await using cluster = await createTestServer({ controllers: [] })
    cluster.faults.next({ verb: 'list' }, { delayMs: 5000 })
    let isDone = false
    const listed = cluster.client.list(configMaps).then(() => {
      isDone = true
    })
    await cluster.settle()
    expect(isDone).toBe(false)
    await cluster.clock.advance({ seconds: 5 })
    expect(isDone).toBe(true)
    await listed
  })

  it('does not wait for a request that waits for a timer of the server', async () => {
    // The authorizer never decides about bob, so only the timeout of the server ends his requests.
    const authorize = ({ user }: { user: { username: string } }) =>
      user.username === 'bob' ? new Promise<never>(() => undefined) : ({ decision: 'allow', reason: '' } as const)
    await using cluster = await createTestServer({ controllers: [], server: { authorizer: { authorize } } })
    const listed = cluster.as({ username: 'bob', groups: [] }).list(configMaps)
    listed.catch(() => undefined)
    await cluster.settle()
    await cluster.clock.advance({ minutes: 2 })
    await expect(listed).rejects.toMatchObject({ code: 504 })
  })
})
