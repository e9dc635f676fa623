import { defaultLimits } from '@krmkit/apiserver'
import { seededRandom } from '@krmkit/meta'
import { readEnvelope } from '@krmkit/schema'
import { decodeWatchEvent } from '@krmkit/schema/protobuf'
import { memoryStorage, type StorageWatchOptions } from '@krmkit/storage'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  asPartial,
  asTable,
  configMap,
  configMaps,
  eventsOf,
  protobuf,
  settled,
  startApi,
  type TestApi,
  type WatchStream,
} from './server.ts'

/** Watch streams. @see API protocol specification, 2.4, 4.1 and 6 */

const secrets = '/api/v1/namespaces/default/secrets'

describe('events', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await startApi()
    await api.post('/api/v1/namespaces', { metadata: { name: 'other' } })
  })
  afterAll(() => api.close())

  it('creates and updates are ADDED and MODIFIED with the new version [P28, P301]', async () => {
    const watch = await api.watch(secrets, { resourceVersion: String(api.storage.revision) })
    const made = (await api.post(secrets, { metadata: { name: 'p28' } })).json
    const changed = (await api.patch(`${secrets}/p28`, { stringData: { a: 'b' } })).json
    // A no-op write is not an event.
    await api.patch(`${secrets}/p28`, { metadata: { labels: null } })
    const gone = await api.delete(`${secrets}/p28`)
    const events = await watch.take(3)
    expect(events.map((event) => Object.keys(event))).toEqual([
      ['type', 'object'],
      ['type', 'object'],
      ['type', 'object'],
    ])
    expect(events[0]).toEqual({ type: 'ADDED', object: made })
    expect(events[1]).toEqual({ type: 'MODIFIED', object: changed })
    expect(gone.status).toBe(200)
    // The last state, at the version of the deletion.
    const { resourceVersion } = events[2]?.object.metadata ?? {}
    expect(events[2]).toEqual({ type: 'DELETED', object: { ...changed, metadata: { ...changed.metadata, resourceVersion } } })
    expect(Number(resourceVersion)).toBeGreaterThan(Number(changed.metadata.resourceVersion))
    await watch.leave()
  })

  it('an event is one line of a JSON stream [P28]', async () => {
    await api.post(secrets, { metadata: { name: 'p28-line' } })
    const watch = await api.watch(secrets)
    expect(watch.response.headers['content-type']).toBe('application/json')
    expect(Buffer.from((await watch.raw()) ?? []).toString()).toMatch(/^\{"type":"ADDED","object":\{"kind":"Secret".*\}\}\n$/)
    await watch.leave()
    await api.delete(`${secrets}/p28-line`)
  })

  it('versions increase, and every watcher receives every write once [P301]', async () => {
    const from = String(api.storage.revision)
    const watches = await Promise.all(Array.from({ length: 5 }, () => api.watch(secrets, { resourceVersion: from })))
    await Promise.all(Array.from({ length: 30 }, (_, i) => api.post(secrets, { metadata: { name: `p301-${i}` } })))
    await api.send('DELETE', secrets)
    const seen = await Promise.all(watches.map((watch) => watch.take(60)))
    for (const events of seen) {
      const versions = events.map(({ object }) => Number(object.metadata.resourceVersion))
      expect(versions).toEqual([...versions].sort((a, b) => a - b))
      expect(new Set(versions).size).toBe(60)
      expect(eventsOf(events)).toEqual(eventsOf(seen[0] ?? []))
    }
    await Promise.all(watches.map((watch) => watch.leave()))
  })

  it('watch on a list path watches the collection, in one or all namespaces [P141, P153]', async () => {
    const query = { resourceVersion: String(api.storage.revision) }
    const one = await api.watch(secrets, query)
    const all = await api.watch('/api/v1/secrets', query)
    const old = await api.watch('/api/v1/watch/namespaces/default/secrets', query)
    await api.post('/api/v1/namespaces/other/secrets', { metadata: { name: 'p141-other' } })
    await api.post(configMaps, configMap('p141-map'))
    await api.post(secrets, { metadata: { name: 'p141' } })
    expect(eventsOf(await all.take(2))).toEqual(['ADDED p141-other', 'ADDED p141'])
    expect(eventsOf(await one.take(1))).toEqual(['ADDED p141'])
    expect(eventsOf(await old.take(1))).toEqual(['ADDED p141'])
    for (const watch of [one, all, old]) await watch.leave()
  })

  it.each(['watch', 'watch=', 'watch=1', 'watch=true', 'watch=yes', 'watch=1&watch=0'])('%s is a watch [P153]', async (query) => {
    const watch = await api.watch(secrets, query)
    expect(watch.response.body.kind).toBe('stream')
    await watch.leave()
  })

  it.each(['watch=0', 'watch=false', 'watch=False', 'Watch=1'])('%s is not a watch [P153]', async (query) => {
    expect((await api.get(secrets, query)).json.kind).toBe('SecretList')
  })

  it('watch on an object path watches the object [P142]', async () => {
    await api.post(secrets, { metadata: { name: 'p142' } })
    let round = 0
    for (const [path, query] of [
      [`${secrets}/p142`, {}],
      ['/api/v1/watch/namespaces/default/secrets/p142', {}],
      [secrets, { fieldSelector: 'metadata.name=p142' }],
      ['/api/v1/secrets', { fieldSelector: 'metadata.name=p142' }],
    ] as const) {
      const watch = await api.watch(path, query)
      expect(eventsOf(await watch.take(1)), path).toEqual(['ADDED p142'])
      await api.post(secrets, { metadata: { name: 'p142-neighbour' } })
      await api.patch(`${secrets}/p142`, { metadata: { labels: { round: String(round++) } } })
      expect(eventsOf(await watch.take(1)), path).toEqual(['MODIFIED p142'])
      await watch.leave()
      await api.delete(`${secrets}/p142-neighbour`)
    }
    const absent = await api.watch(`${secrets}/p142-later`)
    await absent.listen()
    await api.post(secrets, { metadata: { name: 'p142-later' } })
    expect(eventsOf(await absent.take(1))).toEqual(['ADDED p142-later'])
    await absent.leave()
    expect((await api.get(`${secrets}/p142`, { watch: '1', fieldSelector: 'metadata.name=x' })).status).toBe(400)
  })

  it('objects enter and leave a selection [P157, P158]', async () => {
    const from = { resourceVersion: String(api.storage.revision) }
    const labelled = await api.watch(configMaps, { ...from, labelSelector: 'show=yes' })
    const unnamed = await api.watch(configMaps, { ...from, fieldSelector: 'metadata.name!=p157' })
    const path = `${configMaps}/p157`
    await api.post(configMaps, configMap('p157'))
    const entered = (await api.patch(path, { metadata: { labels: { show: 'yes' } } })).json
    await api.patch(path, { data: { a: 'b' } })
    const left = (await api.patch(path, { metadata: { labels: { show: 'no' } } })).json
    await api.patch(path, { data: { a: 'c' } })
    await api.patch(path, { metadata: { labels: { show: 'yes' } } })
    await api.delete(path)
    await api.post(configMaps, configMap('p157-other'))
    const events = await labelled.take(5)
    expect(eventsOf(events)).toEqual(['ADDED p157', 'MODIFIED p157', 'DELETED p157', 'ADDED p157', 'DELETED p157'])
    expect(events[0]?.object).toEqual(entered)
    // It is removed in its last known state, at the version in which it left the selection.
    expect(events[2]?.object).toMatchObject({
      data: { a: 'b' },
      metadata: { labels: { show: 'yes' }, resourceVersion: left.metadata.resourceVersion },
    })
    expect(eventsOf(await unnamed.take(1))).toEqual(['ADDED p157-other'])
    for (const watch of [labelled, unnamed]) await watch.leave()
  })

  it('invalid selectors are rejected before the stream starts [P157, P158]', async () => {
    for (const query of [{ labelSelector: 'a in' }, { fieldSelector: 'nonsense' }, { fieldSelector: 'spec.nothing=x' }]) {
      expect((await api.get(configMaps, { watch: '1', ...query })).json, JSON.stringify(query)).toMatchObject({
        code: 400,
        reason: 'BadRequest',
      })
    }
  })

  it('events can be Tables, metadata and protobuf [P31, P190]', async () => {
    const query = { resourceVersion: String(api.storage.revision) }
    const table = await api.watch(configMaps, query, asTable)
    const partial = await api.watch(configMaps, query, asPartial)
    const binary = await api.watch(configMaps, query, { accept: protobuf })
    await api.post(configMaps, configMap('p31', { data: { a: 'b' } }))
    await api.patch(`${configMaps}/p31`, { data: { c: 'd' } })
    const [first, second] = (await table.take(2)).map(({ object }) => object)
    expect(first).toMatchObject({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      rows: [{ cells: ['p31', 1, '0s'], object: { kind: 'PartialObjectMetadata' } }],
    })
    // Columns are sent once.
    expect([first?.columnDefinitions.length, second?.columnDefinitions]).toEqual([3, null])
    expect((await partial.take(1))[0]).toMatchObject({
      type: 'ADDED',
      object: { kind: 'PartialObjectMetadata', metadata: { name: 'p31' } },
    })
    expect(binary.response.headers['content-type']).toBe('application/vnd.kubernetes.protobuf;stream=watch')
    const frame = Buffer.from((await binary.raw()) ?? [])
    const event = decodeWatchEvent(frame.subarray(4, 4 + frame.readUInt32BE(0)))
    expect(event.type).toBe('ADDED')
    expect(readEnvelope(event.object)).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' })
    for (const watch of [table, partial, binary]) await watch.leave()
    const refused = await api.get(configMaps, { watch: '1' }, { accept: 'text/html' })
    expect(refused.json).toMatchObject({ code: 406, reason: 'NotAcceptable' })
  })
})

describe('bookmarks', () => {
  let api: TestApi
  beforeEach(async () => {
    api = await startApi()
    await api.post(secrets, { metadata: { name: 'a' } })
    return () => api.close()
  })
  const minute = 60_000

  async function afterAMinute(watch: WatchStream): Promise<void> {
    await watch.listen()
    api.clock.advance(minute)
    await settled()
  }

  it('requested bookmarks have the watched type and only a version [P29, P30, P155, P302]', async () => {
    const watch = await api.watch(secrets, { allowWatchBookmarks: 'true', resourceVersion: String(api.storage.revision) })
    await api.post(configMaps, configMap('unrelated'))
    await afterAMinute(watch)
    const event = await watch.next()
    expect(event).toEqual({
      type: 'BOOKMARK',
      object: { kind: 'Secret', apiVersion: 'v1', metadata: { resourceVersion: String(api.storage.revision) } },
    })
    await watch.leave()
  })

  it('no bookmarks without the parameter [P155, P302]', async () => {
    for (const query of [{}, { allowWatchBookmarks: 'false' }, { allowWatchBookmarks: '0' }]) {
      const watch = await api.watch(secrets, { ...query, resourceVersion: String(api.storage.revision) })
      await afterAMinute(watch)
      await api.post(secrets, { metadata: { generateName: 'x-' } })
      expect((await watch.next())?.type, JSON.stringify(query)).toBe('ADDED')
      await watch.leave()
    }
  })

  it('bookmarks have the representation of the stream [P29]', async () => {
    const query = { allowWatchBookmarks: 'true', resourceVersion: String(api.storage.revision) }
    const partial = await api.watch(secrets, query, asPartial)
    const table = await api.watch(secrets, query, asTable)
    await partial.listen()
    await afterAMinute(table)
    const version = String(api.storage.revision)
    expect(await partial.next()).toEqual({
      type: 'BOOKMARK',
      object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: version } },
    })
    expect(await table.next()).toMatchObject({
      type: 'BOOKMARK',
      object: { kind: 'Table', metadata: { resourceVersion: version }, rows: [] },
    })
    for (const watch of [partial, table]) await watch.leave()
  })

  it('bookmarks come every minute, and shortly before the end of a watch [P302]', async () => {
    const watch = await api.watch(secrets, {
      allowWatchBookmarks: '1',
      timeoutSeconds: '130',
      resourceVersion: String(api.storage.revision),
    })
    await watch.listen()
    const at: number[] = []
    const start = api.clock.now()
    const reading = (async () => {
      for (let event = await watch.next(); event !== undefined; event = await watch.next())
        at.push(Math.round((api.clock.now() - start) / 1000))
    })()
    for (let second = 0; second < 131; second++) {
      api.clock.advance(1000)
      await settled()
    }
    await reading
    expect(at).toEqual([60, 120, 128])
  })

  it('a watch from a bookmark misses nothing after compaction [P302]', async () => {
    const first = await api.watch(secrets, { allowWatchBookmarks: '1', resourceVersion: String(api.storage.revision) })
    await api.post(configMaps, configMap('unrelated'))
    await afterAMinute(first)
    const { resourceVersion } = (await first.next())?.object.metadata ?? {}
    await first.leave()
    await api.post(secrets, { metadata: { name: 'b' } })
    await api.storage.compact(Number(resourceVersion))
    const second = await api.watch(secrets, { resourceVersion: String(resourceVersion) })
    expect(eventsOf(await second.take(1))).toEqual(['ADDED b'])
    await second.leave()
  })
})

describe('end of watches', () => {
  it('timeoutSeconds ends a watch cleanly [P159]', async () => {
    await using api = await startApi()
    const watch = await api.watch(secrets, { timeoutSeconds: '5' })
    const events = (await watch.listen()).rest()
    api.clock.advance(4_999)
    await api.post(secrets, { metadata: { name: 'p159' } })
    await settled()
    api.clock.advance(1)
    expect(eventsOf(await events)).toEqual(['ADDED p159'])
    // It has no effect on a list path; an invalid number is always rejected.
    expect((await api.get(secrets, { timeoutSeconds: '1' })).status).toBe(200)
    for (const path of [secrets, configMaps]) expect((await api.get(path, { timeoutSeconds: 'x' })).status).toBe(400)
    expect((await api.delete(secrets, { query: { timeoutSeconds: 'x' } })).status).toBe(400)
    expect((await api.delete(secrets, { query: { timeoutSeconds: '30' } })).status).toBe(200)
  })

  it('watches without timeout end after 30 to 60 minutes, spread over time [P159]', async () => {
    await using api = await startApi({ random: seededRandom(7) })
    const ends: number[] = []
    const start = api.clock.now()
    const watches = await Promise.all(Array.from({ length: 8 }, () => api.watch(secrets)))
    const reading = watches.map(async (watch) => {
      await watch.rest()
      ends.push((api.clock.now() - start) / 1000)
    })
    await settled()
    for (let i = 0; i < 360; i++) {
      api.clock.advance(10_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await Promise.all(reading)
    expect(defaultLimits.watchMs).toBe(1_800_000)
    for (const end of ends) expect(end).toBeGreaterThanOrEqual(1800)
    for (const end of ends) expect(end).toBeLessThanOrEqual(3610)
    expect(new Set(ends).size).toBeGreaterThan(4)
  })

  it('a slow watcher is disconnected and resumes without loss [P321, P323]', async () => {
    const api = await startApi({ history: { maxPending: 50 } })
    const watch = await api.watch(configMaps, { resourceVersion: String(api.storage.revision) })
    await watch.listen()
    for (let i = 0; i < 200; i++) await api.post(configMaps, configMap(`m${String(i).padStart(3, '0')}`))
    const seen = eventsOf(await watch.rest())
    expect(seen.length).toBeLessThan(200)
    const last = seen.length === 0 ? undefined : `${configMaps}/${seen.at(-1)?.replace('ADDED ', '')}`
    const resourceVersion = last === undefined ? '0' : (await api.get(last)).json.metadata.resourceVersion
    const again = await api.watch(configMaps, { resourceVersion })
    const more = eventsOf(await again.take(200 - seen.length))
    expect([...seen, ...more]).toEqual(Array.from({ length: 200 }, (_, i) => `ADDED m${String(i).padStart(3, '0')}`))
    await again.leave()
    await api.close()
  })

  it('buffering for slow clients is bounded [P323]', async () => {
    const storage = memoryStorage({ maxPending: 20 })
    const api = await startApi({ storage })
    const before = await Promise.all(
      Array.from({ length: 3 }, () => api.watch(configMaps, { resourceVersion: String(storage.revision) })),
    )
    for (const watch of before) await watch.listen()
    for (let i = 0; i < 300; i++) await api.post(configMaps, configMap(`m${i}`))
    // The chunk that waited to be read, then the end; later chunks were dropped.
    for (const watch of before) expect((await watch.rest()).length).toBeLessThan(50)
    await api.close()
  })

  it('a closing server ends watches cleanly after pending events [P159]', async () => {
    const api = await startApi()
    const watches = await Promise.all([
      api.watch(configMaps),
      api.watch(secrets),
      api.watch('/api/v1/pods', { allowWatchBookmarks: '1' }),
    ])
    for (const watch of watches) await watch.listen()
    await api.post(configMaps, configMap('last'))
    await settled()
    await api.close()
    expect(await Promise.all(watches.map(async (watch) => eventsOf(await watch.rest())))).toEqual([['ADDED last'], [], []])
    expect((await api.get(configMaps)).json).toMatchObject({ code: 503, reason: 'ServiceUnavailable' })
    expect((await api.get(configMaps, { watch: '1' })).status).toBe(503)
  })

  it('a disconnect ends the watch and releases its resources [P153]', async () => {
    const storage = memoryStorage()
    const closed: string[] = []
    const counting = new Proxy(storage, {
      get(target, name) {
        const member = Reflect.get(target, name, target) as unknown
        if (typeof member !== 'function') return member
        if (name !== 'watch') return member.bind(target) as unknown
        return (options: StorageWatchOptions) => {
          const watcher = target.watch(options)
          const close = watcher.close.bind(watcher)
          watcher.close = () => {
            if (options.prefix.includes('/configmaps/')) closed.push(options.prefix)
            close()
          }
          return watcher
        }
      },
    })
    await using api = await startApi({ storage: counting })
    const watch = await api.watch(configMaps)
    await watch.listen()
    expect(closed).toEqual([])
    expect(await watch.leave()).toEqual([])
    expect(closed).toHaveLength(1)
  })
})
