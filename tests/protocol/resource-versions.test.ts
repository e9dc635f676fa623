import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Cell, type cells, named } from './list-table.ts'
import {
  type Answer,
  asTable,
  configMap,
  configMaps,
  eventsOf,
  names,
  protobuf,
  settled,
  startApi,
  type TestApi,
} from './server.ts'

/** Combinations of resourceVersion, resourceVersionMatch, limit and continue. @see API protocol specification, 4.2 */

/**
 * One history for all tables, with versions by letter: `a` after the creation of a, then b, then c, then an object of another kind (`now`).
 */
interface History {
  readonly api: TestApi
  /** Version by letter. */
  readonly version: Readonly<Record<'a' | 'b' | 'c' | 'now', string>>
  /** After the first item of the list at `b`. */
  readonly token: string
}

async function history(): Promise<History> {
  const api = await startApi({ history: { minHistoryMs: 0 } })
  const made: string[] = []
  for (const name of ['a', 'b', 'c']) made.push((await api.post(configMaps, configMap(name))).json.metadata.resourceVersion)
  const now = (await api.post('/api/v1/nodes', { metadata: { name: 'neighbour' } })).json.metadata.resourceVersion
  const [a = '', b = '', c = ''] = made
  const { continue: token } = (await api.get(configMaps, { resourceVersion: b, limit: '1' })).json.metadata
  return { api, version: { a, b, c, now }, token }
}

describe('the table of lists', () => {
  let past: History
  beforeAll(async () => {
    past = await history()
  })
  afterAll(() => past.api.close())

  const queryOf = ({ match, pagination, version }: (typeof cells)[number]): Record<string, string> => ({
    ...(match === '' ? {} : { resourceVersionMatch: match }),
    ...(pagination === '' ? {} : { limit: '1' }),
    ...(pagination === 'continue' ? { continue: past.token } : {}),
    ...(version === 'unset' ? {} : { resourceVersion: version === '0' ? '0' : past.version.b }),
  })

  /** All items of the list, whatever the chunk size, and its version. */
  async function whole(first: Answer): Promise<{ names: string[]; version: string }> {
    const found = [...names(first.json)]
    const { resourceVersion: version } = first.json.metadata
    let { continue: token } = first.json.metadata
    while (token !== '') {
      const { json } = await past.api.get(configMaps, { limit: '1', continue: token })
      found.push(...names(json))
      token = json.metadata.continue
    }
    return { names: found, version }
  }

  /** This server has no stale cache: any and not-older reads return the newest version. */
  function expected(cell: Cell): { names: string[]; version: string } {
    const { version } = past
    if (cell === 'exact') return { names: ['a', 'b'], version: version.b }
    return cell === 'of the token' ? { names: ['b'], version: version.b } : { names: ['a', 'b', 'c'], version: version.now }
  }

  describe('each cell [P154, P169, P170, P171, P172, P173, P174, P175, P176, P177, P178, P179, P180]', () => {
    it.each(named)('%s', async (_, one) => {
      const answer = await past.api.get(configMaps, queryOf(one))
      if (one.cell === 'refused') {
        expect([answer.status, answer.json.reason]).toEqual([400, 'BadRequest'])
        return
      }
      expect(answer.status, answer.text).toBe(200)
      if (one.pagination !== '') expect(answer.json.items).toHaveLength(1)
      expect(await whole(answer)).toEqual(expected(one.cell))
    })

    it.each(named)('as a Table, as protobuf, and with a selector: %s', async (_, one) => {
      const query = queryOf(one)
      const table = await past.api.get(configMaps, query, asTable)
      const binary = await past.api.get(configMaps, query, { accept: protobuf })
      const selected = await past.api.get(configMaps, { ...query, fieldSelector: 'metadata.name!=x' })
      const codes = [table.status, binary.status, selected.status]
      if (one.cell === 'refused') {
        expect(codes).toEqual([400, 400, 400])
        return
      }
      expect(codes).toEqual([200, 200, 200])
      const { names: all } = expected(one.cell)
      const shown = one.pagination === '' ? all : all.slice(0, 1)
      expect(table.json.rows.map(({ cells: [name] }) => name)).toEqual(shown)
      expect(names(selected.json)).toEqual(shown)
    })
  })

  it('resourceVersionMatch has two values, and requires resourceVersion [P154]', async () => {
    for (const query of [
      { resourceVersionMatch: 'exact' },
      { resourceVersionMatch: 'Newest', resourceVersion: past.version.a },
    ]) {
      expect((await past.api.get(configMaps, query)).json, JSON.stringify(query)).toMatchObject({
        code: 400,
        reason: 'BadRequest',
      })
    }
    // Empty means unset.
    expect((await past.api.get(configMaps, { resourceVersionMatch: '', resourceVersion: past.version.a })).status).toBe(200)
  })

  it('unknown parameters are ignored [P181]', async () => {
    const answer = await past.api.get(configMaps, {
      resourceVersionMatchOf: 'Exact',
      resourceversionmatch: 'x',
      labelselector: 'x=y',
    })
    expect([answer.status, names(answer.json)]).toEqual([200, ['a', 'b', 'c']])
    // A get is not a list: the parameter has no meaning.
    expect((await past.api.get(`${configMaps}/a`, { resourceVersionMatch: 'Exact' })).status).toBe(200)
  })

  it.each(['x', '-1', '1.5', '0x1', '1'.repeat(21)])('rejects resourceVersion=%s [P210]', async (resourceVersion) => {
    for (const path of [configMaps, `${configMaps}/a`]) {
      expect((await past.api.get(path, { resourceVersion })).json, path).toMatchObject({ code: 400, reason: 'BadRequest' })
    }
    expect((await past.api.get(configMaps, { resourceVersion, watch: '1' })).json).toMatchObject({ code: 400 })
  })
})

describe('the table of gets', () => {
  let past: History
  beforeAll(async () => {
    past = await history()
    await past.api.patch(`${configMaps}/a`, { data: { changed: 'yes' } })
  })
  afterAll(() => past.api.close())

  it.each(['unset', '0', 'a', 'now'] as const)('get version=%s [P140, P168]', async (version) => {
    const query: Record<string, string> =
      version === 'unset' ? {} : { resourceVersion: version === '0' ? '0' : past.version[version] }
    const { status, json } = await past.api.get(`${configMaps}/a`, query)
    expect([status, json.data]).toEqual([200, { changed: 'yes' }])
    expect(Number(json.metadata.resourceVersion)).toBeGreaterThan(Number(past.version.now))
    expect((await past.api.get(`${configMaps}/missing`, query)).json).toMatchObject({
      code: 404,
      reason: 'NotFound',
      details: { name: 'missing' },
    })
  })

  it('a get waits for a future version [P168]', async () => {
    const next = String(past.api.storage.revision + 1)
    const reading = past.api.get(`${configMaps}/b`, { resourceVersion: next })
    await settled()
    await past.api.patch(`${configMaps}/b`, { data: { new: 'yes' } })
    const { json } = await reading
    expect([json.data, json.metadata.resourceVersion]).toEqual([{ new: 'yes' }, next])
  })
})

describe('future versions', () => {
  let past: History
  beforeAll(async () => {
    past = await history()
  })
  afterAll(() => past.api.close())

  it.each([
    ['get', `${configMaps}/a`, {}],
    ['list', configMaps, {}],
    ['list, NotOlderThan', configMaps, { resourceVersionMatch: 'NotOlderThan' }],
    ['list, NotOlderThan and limit', configMaps, { resourceVersionMatch: 'NotOlderThan', limit: '1' }],
    ['list, Exact', configMaps, { resourceVersionMatch: 'Exact' }],
    ['list, limit', configMaps, { limit: '1' }],
    ['list, selected', configMaps, { labelSelector: 'a=b' }],
  ])('%s: 504 with Retry-After when it does not arrive [P317, P318]', async (_, path, query) => {
    const reading = past.api.get(path, { ...query, resourceVersion: '4000000000000000000' })
    await settled()
    past.api.clock.advance(3_000)
    const { status, json, headers } = await reading
    expect([status, json.reason, headers['retry-after']]).toEqual([504, 'Timeout', '1'])
    expect(json.details).toMatchObject({ retryAfterSeconds: 1, causes: [{ reason: 'ResourceVersionTooLarge' }] })
    expect(json.message).toMatch(/^Timeout: Too large resource version: 4000000000000000000, current: \d+$/)
  })

  it('a list waits for a future version [P171]', async () => {
    const next = String(past.api.storage.revision + 1)
    const reading = past.api.get(configMaps, { resourceVersion: next })
    await settled()
    await past.api.post(configMaps, configMap('p171'))
    const { json } = await reading
    expect(names(json)).toContain('p171')
    expect(json.metadata.resourceVersion).toBe(next)
  })

  it('a watch waits for a future version [P321]', async () => {
    const from = past.api.storage.revision + 1
    const watch = await past.api.watch(configMaps, { resourceVersion: String(from), timeoutSeconds: '60' })
    await watch.listen()
    await past.api.post(configMaps, configMap('p321-at'))
    await past.api.post(configMaps, configMap('p321-after'))
    expect(eventsOf(await watch.take(1))).toEqual(['ADDED p321-after'])
    await watch.leave()
    const never = await past.api.watch(configMaps, { resourceVersion: '4000000000000000000', timeoutSeconds: '2' })
    const events = (await never.listen()).rest()
    past.api.clock.advance(2_000)
    expect(await events).toEqual([])
  })
})

describe('past versions', () => {
  let past: History
  beforeEach(async () => {
    past = await history()
    await past.api.storage.compact(Number(past.version.c))
    return () => past.api.close()
  })

  it.each([
    ['Exact', { resourceVersionMatch: 'Exact' }],
    ['Exact and limit', { resourceVersionMatch: 'Exact', limit: '1' }],
    ['limit', { limit: '1' }],
    ['Exact with a selector', { resourceVersionMatch: 'Exact', labelSelector: '!x' }],
    ['Exact by name', { resourceVersionMatch: 'Exact', fieldSelector: 'metadata.name=a' }],
  ])('410 for a list of a compacted version: %s [P316]', async (_, query) => {
    const { api, version } = past
    const { status, json } = await api.get(configMaps, { ...query, resourceVersion: version.a })
    expect([status, json.reason, json.metadata.continue]).toEqual([410, 'Expired', undefined])
    expect((await api.get(configMaps, { ...query, resourceVersion: version.c })).status).toBe(200)
  })

  it('NotOlderThan works for compacted versions [P168, P171, P180]', async () => {
    const { api, version } = past
    expect((await api.get(`${configMaps}/a`, { resourceVersion: version.a })).status).toBe(200)
    expect((await api.get(configMaps, { resourceVersion: version.a })).status).toBe(200)
    expect(
      (await api.get(configMaps, { resourceVersion: version.a, resourceVersionMatch: 'NotOlderThan', limit: '1' })).status,
    ).toBe(200)
  })

  it.each([
    ['JSON', {}, {}],
    ['of one object', { fieldSelector: 'metadata.name=a' }, {}],
    ['a Table', {}, asTable],
  ])('a watch from a compacted version gets 410 and ends: %s [P314]', async (_, query, headers) => {
    const { api, version } = past
    const watch = await api.watch(configMaps, { ...query, resourceVersion: version.a }, headers)
    expect(watch.response.status).toBe(200)
    const [event, ...more] = await watch.rest()
    expect(more).toEqual([])
    expect(event).toMatchObject({
      type: 'ERROR',
      object: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', code: 410 },
    })
    expect(event?.object.message).toMatch(/^too old resource version: /)
  })

  it('a watch within the history resumes [P323]', async () => {
    const { api, version } = past
    const watch = await api.watch(configMaps, { resourceVersion: version.c })
    await api.post(configMaps, configMap('d'))
    expect(eventsOf(await watch.take(1))).toEqual(['ADDED d'])
    await watch.leave()
  })
})

describe('versions in writes', () => {
  it('a write with another version than the stored one is a conflict [P167]', async () => {
    await using api = await startApi()
    const path = `${configMaps}/a`
    const first = (await api.post(configMaps, configMap('a'))).json.metadata.resourceVersion
    const write = (resourceVersion: string, value: string) =>
      api.put(path, { metadata: { name: 'a', resourceVersion }, data: { value } })
    const second = await write(first, '1')
    expect(second.status).toBe(200)
    const older = await write(first, '2')
    expect(older.json).toMatchObject({ code: 409, reason: 'Conflict', details: { name: 'a', kind: 'configmaps' } })
    expect(older.json.message).toMatch(
      /the object has been modified; please apply your changes to the latest version and try again$/,
    )
    // A newer version also conflicts: versions are not ordered.
    expect((await write('4000000', '3')).json).toMatchObject({ code: 409, reason: 'Conflict' })
    expect((await write('x', '4')).status).toBe(400)
    // Without a version, or with 0, the write is unconditional.
    expect((await write('0', '5')).status).toBe(200)
    expect((await write('', '6')).json.data).toEqual({ value: '6' })
    const patch = await api.patch(path, { metadata: { resourceVersion: first }, data: { value: '7' } })
    expect(patch.json).toMatchObject({ code: 409, reason: 'Conflict' })
    const deletion = await api.delete(path, { body: { preconditions: { resourceVersion: first } } })
    expect(deletion.json).toMatchObject({ code: 409, reason: 'Conflict' })
    expect((await api.get(path)).json.data).toEqual({ value: '6' })
  })
})

describe('the table of watches [P182, P183, P184]', () => {
  let past: History
  beforeAll(async () => {
    past = await history()
  })
  afterAll(() => past.api.close())

  const present = ['ADDED a', 'ADDED b', 'ADDED c']
  it.each([
    ['unset: the present objects first, then changes', undefined, present],
    ['0: the same', '0', present],
    ['a version: later changes only', 'b', ['ADDED c']],
    ['the newest version: nothing of the past', 'now', []],
  ] as const)('%s', async (_, version, first) => {
    const { api } = past
    const query = version === undefined ? {} : { resourceVersion: version === '0' ? '0' : past.version[version] }
    const watch = await api.watch(configMaps, query)
    expect(eventsOf(await watch.take(first.length))).toEqual(first)
    await api.post(configMaps, configMap('later'))
    expect(eventsOf(await watch.take(1))).toEqual(['ADDED later'])
    await api.delete(`${configMaps}/later`)
    expect(eventsOf(await watch.take(1))).toEqual(['DELETED later'])
    expect(await watch.leave()).toEqual([])
    // The others start from the same state.
    const again = await history()
    await past.api.close()
    past = again
  })

  it('resourceVersionMatch on a watch requires sendInitialEvents [P154]', async () => {
    const { api } = past
    for (const query of [
      { resourceVersionMatch: 'Exact' },
      { resourceVersionMatch: 'NotOlderThan' },
      { sendInitialEvents: 'true' },
    ]) {
      expect(
        (await api.get(configMaps, { watch: '1', resourceVersion: '0', ...query })).json,
        JSON.stringify(query),
      ).toMatchObject({ code: 400 })
    }
    const watch = await api.watch(configMaps, {
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      allowWatchBookmarks: 'true',
    })
    const events = await watch.take(4)
    expect(eventsOf(events.slice(0, 3))).toEqual(present)
    expect(events[3]).toMatchObject({
      type: 'BOOKMARK',
      object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
    })
    await watch.leave()
  })
})
