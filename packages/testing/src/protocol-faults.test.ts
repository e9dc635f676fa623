import { createInformer } from '@krmkit/client'
import { ApiError } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { configMaps } from './resources.fixture.ts'
import { skewedClock } from './test-clock.ts'
import { createTestServer } from './test-server.ts'

const made = (name: string) => ({ metadata: { name } })
const start = () => createTestServer({ controllers: [], startAtMs: Date.UTC(2024, 0, 1) })
const statusOf = async (request: Promise<unknown>) => {
  const error = await request.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return ApiError.is(error) ? error.status : error
}

describe('failures have the status of kube-apiserver', () => {
  it.each([
    [401, 'Unauthorized', 'Unauthorized'],
    [
      403,
      'Forbidden',
      'configmaps "a" is forbidden: User "test-admin" cannot update resource "configmaps" in API group "" in the namespace "default"',
    ],
    [404, 'NotFound', 'configmaps "a" not found'],
    [
      409,
      'Conflict',
      'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    ],
    [500, 'InternalError', 'Internal error occurred: a fault of the test'],
    [503, 'ServiceUnavailable', 'a fault of the test'],
    [504, 'Timeout', 'Timeout: request did not complete within the allotted timeout'],
  ])('%i', async (fail, reason, message) => {
    await using cluster = await start()
    const object = await cluster.client.create(configMaps, made('a'))
    cluster.faults.next({ verb: 'update' }, { fail })
    expect(await statusOf(cluster.client.update(configMaps, object))).toMatchObject({ code: fail, reason, message })
  })

  it('fails after the write took effect', async () => {
    await using cluster = await start()
    cluster.faults.next({ verb: 'create' }, { fail: 504, afterWrite: true })
    expect(await statusOf(cluster.client.create(configMaps, made('a')))).toMatchObject({ code: 504 })
    expect(await statusOf(cluster.client.create(configMaps, made('a')))).toMatchObject({ reason: 'AlreadyExists' })
  })

  it('responds with 429 and Retry-After', async () => {
    await using cluster = await start()
    cluster.faults.next({ verb: 'get' }, { fail: 429, retryAfterSeconds: 7 })
    const got = cluster.client.request({ path: '/api/v1/namespaces/default/configmaps/a' })
    await cluster.clock.advance('6s')
    expect(cluster.ledger.count({ verb: 'get' })).toBe(1)
    await cluster.clock.advance('1s')
    expect((await got).status).toBe(404)
  })

  it('a series of conflicts ends after the planned number', async () => {
    await using cluster = await start()
    const object = await cluster.client.create(configMaps, made('a'))
    cluster.faults.next({ verb: 'update', name: 'a', namespace: 'default' }, { fail: 409 }, { times: 20 })
    let conflicts = 0
    while (((await statusOf(cluster.client.update(configMaps, object))) as { code?: number } | undefined)?.code === 409)
      conflicts++
    expect(conflicts).toBe(20)
  })
})

describe('compaction', () => {
  it('during a list in chunks expires the continue token', async () => {
    await using cluster = await start()
    for (const name of ['a', 'b', 'c']) await cluster.client.create(configMaps, made(name))
    cluster.faults.next({ verb: 'list', query: /continue=/ }, { compact: true })
    const seen: (string | undefined)[] = []
    const list = async () => {
      for await (const { items } of cluster.client.listPages(configMaps, { limit: 2 }))
        seen.push(...items.map(({ metadata }) => metadata.name))
    }
    const status = await statusOf(list())
    expect(seen).toEqual(['a', 'b'])
    expect(status).toMatchObject({
      code: 410,
      reason: 'Expired',
      message: expect.stringContaining('The provided continue parameter is too old'),
    })
    expect((status as { metadata: { continue?: string } }).metadata.continue).toBeTruthy()
  })

  it('makes informers list again without losing changes', async () => {
    await using cluster = await start()
    const { client, faults, clock } = cluster
    const copy = createInformer(client, configMaps, { clock })
    await copy.synced
    await client.create(configMaps, made('a'))
    await cluster.settle()
    faults.next({ verb: 'watch' }, { unreachable: true }, { times: 3 })
    faults.dropWatches()
    await client.delete(configMaps, 'a')
    await client.create(configMaps, made('b'))
    await faults.compact()
    await clock.advance('2m')
    expect(copy.list().map(({ metadata }) => metadata.name)).toEqual(['b'])
    expect(cluster.ledger.count({ verb: 'list', resource: 'configmaps' })).toBe(2)
    await copy.stop()
  })
})

/** Reads the events of a watch until it ends. */
async function eventsOf(cluster: Awaited<ReturnType<typeof start>>, query: string, accept = 'application/json') {
  const path = `/api/v1/namespaces/default/configmaps`
  const response = await cluster.handle({
    method: 'GET',
    path,
    query: `watch=true&${query}`,
    headers: { accept, authorization: `Bearer ${cluster.tokenOf('reader')}` },
    body: async () => new Uint8Array(),
    peer: {},
    signal: AbortSignal.timeout(10_000),
  })
  const chunks: Uint8Array[] = []
  if (response.body.kind === 'stream') for await (const chunk of response.body.stream) chunks.push(chunk)
  return { status: response.status, bytes: Buffer.concat(chunks) }
}
const linesOf = ({ bytes }: { readonly bytes: Buffer }) =>
  bytes
    .toString()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; object: { code?: number; message?: string } })

describe('watches', () => {
  it('expire with an ERROR event after some events', async () => {
    await using cluster = await start()
    for (const name of ['a', 'b', 'c']) await cluster.client.create(configMaps, made(name))
    cluster.faults.next({ verb: 'watch', user: 'reader' }, { watch: { end: 'expired', afterEvents: 2 } })
    const { status, bytes } = await eventsOf(cluster, 'resourceVersion=1')
    expect(status).toBe(200)
    const events = linesOf({ bytes })
    expect(events.map(({ type }) => type)).toEqual(['ADDED', 'ADDED', 'ERROR'])
    expect(events[2]?.object).toMatchObject({
      kind: 'Status',
      code: 410,
      reason: 'Expired',
      message: expect.stringMatching(/^too old resource version: 1 \(\d+\)$/),
    })
  })

  it('expire in Protobuf, too', async () => {
    await using cluster = await start()
    await cluster.client.create(configMaps, made('a'))
    cluster.faults.next({ verb: 'watch' }, { watch: { end: 'expired', afterEvents: 1 } })
    const { bytes } = await eventsOf(cluster, 'resourceVersion=1', 'application/vnd.kubernetes.protobuf')
    const first = 4 + bytes.readUInt32BE(0)
    expect(bytes.subarray(6, 11).toString()).toBe('ADDED')
    expect(bytes.subarray(first + 6, first + 11).toString()).toBe('ERROR')
    expect(bytes.toString('latin1')).toContain('too old resource version')
  })

  it('close, drop or become silent while open, and informers recover from the first two', async () => {
    await using cluster = await start()
    const { client, faults, clock } = cluster
    const copy = createInformer(cluster.as('operator'), configMaps, { clock })
    await copy.synced
    const names = () => copy.list().map(({ metadata }) => metadata.name)
    for (const [end, name] of [
      ['closed', 'a'],
      ['dropped', 'b'],
      ['expired', 'c'],
    ] as const) {
      await cluster.settle()
      expect(faults.endWatches({ user: 'operator' }, end)).toBe(1)
      await client.create(configMaps, made(name))
      await clock.advance('1m')
      expect(names()).toContain(name)
    }
    faults.endWatches({}, 'silent')
    await client.create(configMaps, made('d'))
    await clock.advance('1m')
    expect(names()).toEqual(['a', 'b', 'c'])
    await copy.stop()
  })

  it('lose bookmarks or deliver them late', async () => {
    await using cluster = await start()
    const { faults, clock } = cluster
    const watched = (fault: object) => {
      faults.next({ verb: 'watch' }, { watch: { afterEvents: 99, ...fault } })
      const types: [string, number][] = []
      const startMs = clock.now()
      const abort = new AbortController()
      const events = cluster.client.watch(configMaps, {
        resourceVersion: '1',
        bookmarks: true,
        resume: false,
        signal: abort.signal,
      })
      const done = (async () => {
        for await (const { type } of events) types.push([type, (clock.now() - startMs) / 1000])
      })()
      return { types, stop: () => done, abort }
    }
    const plain = watched({ delayMs: 0 })
    const lost = watched({ bookmarks: 'lost' })
    const late = watched({ bookmarks: { delayMs: 30_000 } })
    await clock.advance('75s')
    expect(plain.types.map(([type]) => type)).toEqual(['BOOKMARK'])
    expect(lost.types).toEqual([])
    expect(late.types).toEqual([])
    await clock.advance('30s')
    expect(late.types.map(([type]) => type)).toEqual(['BOOKMARK'])
    for (const { abort, stop } of [plain, lost, late]) {
      abort.abort()
      await stop()
    }
  })

  it('deliver events late', async () => {
    await using cluster = await start()
    const { client, faults, clock } = cluster
    faults.next({ verb: 'watch' }, { watch: { delayMs: 5000 } })
    const copy = createInformer(client, configMaps, { clock })
    await copy.synced
    await cluster.settle()
    await client.create(configMaps, made('a'))
    await clock.advance('4s')
    expect(copy.list()).toEqual([])
    await clock.advance('1s')
    expect(copy.list()).toHaveLength(1)
    await copy.stop()
  })
})

describe('credentials and clocks', () => {
  it('of a user can expire', async () => {
    await using cluster = await start()
    const token = cluster.tokenOf('reader')
    const statusWith = async (bearer: string) =>
      (
        await cluster.handle({
          method: 'GET',
          path: '/api/v1/configmaps',
          query: '',
          headers: { authorization: `Bearer ${bearer}` },
          body: async () => new Uint8Array(),
          peer: {},
          signal: new AbortController().signal,
        })
      ).status
    expect(await statusWith(token)).toBe(200)
    expect(cluster.expireTokens('reader')).toBe(1)
    expect([await statusWith(token), await statusWith(cluster.tokenOf('reader'))]).toEqual([401, 200])
  })

  it('of a client can be wrong', async () => {
    await using cluster = await start()
    const ahead = skewedClock(cluster.clock, 90_000)
    const fired: number[] = []
    ahead.setTimeout(() => fired.push(ahead.now() - cluster.clock.now()), 1000)
    await cluster.clock.advance('1s')
    expect(fired).toEqual([90_000])
    expect(() => skewedClock(cluster.clock, Number.NaN)).toThrow('not a number of milliseconds')
  })
})

describe('stale reads', () => {
  it('come from an earlier state until they are unfrozen', async () => {
    await using cluster = await start()
    const { client, faults } = cluster
    const before = await client.create(configMaps, made('a'))
    const thaw = faults.freezeReads({ user: 'operator' })
    await client.patch(configMaps, 'a', { type: 'merge', patch: { data: { color: 'red' } } })
    await client.create(configMaps, made('b'))
    const operator = cluster.as('operator')
    expect((await operator.get(configMaps, 'a')).metadata.resourceVersion).toBe(before.metadata.resourceVersion)
    expect((await operator.list(configMaps)).items).toHaveLength(1)
    expect(await statusOf(operator.update(configMaps, { ...before, data: { color: 'blue' } } as never))).toMatchObject({
      reason: 'Conflict',
    })
    expect((await client.list(configMaps)).items).toHaveLength(2)
    thaw()
    expect((await operator.list(configMaps)).items).toHaveLength(2)
  })

  it('as single faults come from the state at the previous fault', async () => {
    await using cluster = await start()
    const { client, faults } = cluster
    faults.next({ verb: 'list' }, { stale: true }, { times: 2 })
    const count = async () => (await client.list(configMaps)).items.length
    await client.create(configMaps, made('a'))
    expect(await count()).toBe(1)
    await client.create(configMaps, made('b'))
    expect([await count(), await count()]).toEqual([1, 2])
  })
})

describe('random faults', () => {
  const codes = async (faults: object) => {
    await using cluster = await createTestServer({ controllers: [], startAtMs: 1, faults: { rate: 0.5, ...faults } as never })
    const client = cluster.as('operator')
    for (let i = 0; i < 20; i++) await client.create(configMaps, made(`m${i}`)).catch(() => undefined)
    return { seed: cluster.faults.seed, codes: cluster.ledger.entries.map(({ code }) => code) }
  }

  it('are the same for the same seed', async () => {
    const kinds = ['unavailable', 'lost', 'unreachable', 'failedAfterWrite']
    const first = await codes({ seed: 7, kinds })
    expect(new Set(first.codes)).toEqual(new Set([201, 503, 504, 0]))
    expect(await codes({ seed: 7, kinds })).toEqual(first)
    expect((await codes({ seed: 8, kinds })).codes).not.toEqual(first.codes)
  })

  it('name their seed, and do not affect the client of the test', async () => {
    await using cluster = await createTestServer({ controllers: [], faults: { seed: 42, rate: 1, kinds: ['unavailable'] } })
    await expect(cluster.as('operator').list(configMaps)).rejects.toThrow('a fault of the test, seed 42')
    await cluster.client.list(configMaps)
  })

  it.each([
    [{ rate: 2 }, 'rate 2 is not between 0 and 1'],
    [{ rate: 0.1, seed: 0.5 }, 'seed 0.5 is not an integer'],
    [{ rate: 0.1, kinds: ['nosuch'] }, 'unknown kind "nosuch"; known kinds: conflict, '],
  ])('reject %j', async (faults, message) => {
    await expect(createTestServer({ faults: faults as never })).rejects.toThrow(message)
  })
})

describe('wrong faults', () => {
  it.each([
    [{}, {}, {}, 'a fault has one of fail, delayMs, lose, unreachable, compact, stale, watch; given: none'],
    [{}, { status: 503 }, {}, 'given: status'],
    [{}, { fail: 200 }, {}, 'fail: 200 is not a status of an error'],
    [{}, { fail: 500 }, { times: 0 }, 'times: 0 is not a number of requests from 1'],
    [{}, { fail: 500 }, { after: -1 }, 'after: -1 is not a number of requests'],
    [{ verb: 'list' }, { watch: { end: 'closed' } }, {}, 'only watches have a stream, but the verb is list'],
  ])('are rejected: %j %j %j', async (match, fault, options, message) => {
    await using cluster = await start()
    expect(() => cluster.faults.next(match, fault as never, options)).toThrow(
      expect.objectContaining({ code: 'InvalidFault', message: expect.stringContaining(message) }),
    )
  })
})
