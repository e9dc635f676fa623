import { gunzipSync } from 'node:zlib'
import { createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { definitionsPath, eventually, widgetDefinition } from '../custom-resources/testing/widgets.ts'
import { administrator, requestOf, type SampleServer, sampleServer } from '../testing/sample-server.ts'

const maps = '/api/v1/namespaces/default/configmaps'

interface Event {
  readonly type: string
  readonly object: {
    readonly kind: string
    readonly metadata: { readonly name?: string; readonly resourceVersion: string; readonly annotations?: object }
    readonly [member: string]: unknown
  }
}

async function make(sample: SampleServer, name: string, labels: Record<string, string> = {}): Promise<string> {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels } }
  return (await sample.ask(maps, { method: 'POST', body })).json.metadata.resourceVersion as string
}

/** Opens a watch: `next()` waits for the given number of events, `leave()` ends the watch. */
async function watch({ server }: SampleServer, query: string, headers: Record<string, string> = {}, path = maps) {
  const gone = new AbortController()
  const target = `${path}?watch=1&${query}`
  const {
    status,
    headers: answered,
    body,
  } = await server.handle(requestOf(target, { user: administrator, headers, signal: gone.signal }))
  if (body.kind !== 'stream') throw new Error(`no stream: ${status}`)
  const pieces = body.stream[Symbol.asyncIterator]()
  const waiting: Event[] = []
  const read = async (): Promise<boolean> => {
    const { done, value } = await pieces.next()
    if (done === true) return false
    for (const line of new TextDecoder().decode(value).trimEnd().split('\n')) waiting.push(JSON.parse(line) as Event)
    return true
  }
  return {
    contentType: answered['content-type'],
    async next(count: number): Promise<Event[]> {
      while (waiting.length < count) if (!(await read())) break
      return waiting.splice(0, count)
    },
    async rest(): Promise<Event[]> {
      while (await read());
      return waiting.splice(0)
    },
    async leave() {
      gone.abort()
      return this.rest()
    },
  }
}

const summaries = (events: readonly Event[]) => events.map(({ type, object }) => `${type} ${object.metadata.name ?? ''}`)

describe('watch frames', () => {
  it('are lines of JSON with the stored bytes [P28] [P301]', async () => {
    const sample = await sampleServer()
    await make(sample, 'a')
    const stream = await watch(sample, '')
    expect(stream.contentType).toBe('application/json')
    const version = await make(sample, 'b')
    await sample.ask(`${maps}/a`, { method: 'DELETE' })
    const events = await stream.next(3)
    expect(summaries(events)).toEqual(['ADDED a', 'ADDED b', 'DELETED a'])
    expect(events[1]?.object.metadata.resourceVersion).toBe(version)
    expect(events[1]?.object).toEqual((await sample.ask(`${maps}/b`)).json)
    expect(Number(events[2]?.object.metadata.resourceVersion)).toBeGreaterThan(Number(version))
    expect(await stream.leave()).toEqual([])
  })

  it('deliver each change after the version once', async () => {
    const sample = await sampleServer()
    const version = await make(sample, 'a')
    await make(sample, 'b')
    const stream = await watch(sample, `resourceVersion=${version}`)
    await make(sample, 'c')
    expect(summaries(await stream.next(2))).toEqual(['ADDED b', 'ADDED c'])
    await stream.leave()
  })

  it('report objects that enter and leave the selection [P158]', async () => {
    const sample = await sampleServer()
    const stream = await watch(sample, 'labelSelector=in%3Dyes')
    await make(sample, 'a', { in: 'yes' })
    await make(sample, 'b')
    const label = (value: string) => ({
      method: 'PATCH',
      headers: { 'content-type': 'application/merge-patch+json' },
      body: { metadata: { labels: { in: value } } },
    })
    const left = await sample.ask(`${maps}/a`, label('no'))
    await sample.ask(`${maps}/b`, label('yes'))
    const events = await stream.next(3)
    expect(summaries(events)).toEqual(['ADDED a', 'DELETED a', 'ADDED b'])
    expect(events[1]?.object.metadata).toMatchObject({
      labels: { in: 'yes' },
      resourceVersion: left.json.metadata.resourceVersion,
    })
    await stream.leave()
  })

  it('include bookmarks on request [P155] [P302] [P29] [P30]', async () => {
    const sample = await sampleServer()
    const version = await make(sample, 'a')
    const stream = await watch(sample, 'allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan')
    const events = await stream.next(2)
    expect(summaries(events)).toEqual(['ADDED a', 'BOOKMARK '])
    expect(events[1]?.object).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {
        resourceVersion: version,
        annotations: {
          'k8s.io/initial-events-end': 'true',
          'kubernetes.io/initial-events-list-blueprint': Buffer.from(
            '{"kind":"ConfigMapList","apiVersion":"v1","metadata":{},"items":null}\n',
          ).toString('base64'),
        },
      },
    })
    const pending = stream.next(1)
    await sample.clock.advance(60_000)
    expect((await pending)[0]).toMatchObject({ type: 'BOOKMARK', object: { metadata: { resourceVersion: version } } })
    await stream.leave()
  })

  it('mark the end of a streamed list without a list since 1.34, and that of a Table', async () => {
    const sample = await sampleServer({ features: createFeatures('1.37') })
    const resourceVersion = await make(sample, 'a')
    const metadata = { resourceVersion, annotations: { 'k8s.io/initial-events-end': 'true' } }
    const asked = 'allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan'
    const objects = await watch(sample, asked)
    expect((await objects.next(2))[1]?.object).toEqual({ kind: 'ConfigMap', apiVersion: 'v1', metadata })
    const rows = await watch(sample, asked, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' })
    expect((await rows.next(2))[1]).toMatchObject({
      ...{ type: 'BOOKMARK', object: { columnDefinitions: null, rows: [{ object: { metadata } }] } },
    })
    const unasked = await watch(sample, 'allowWatchBookmarks=true')
    const bookmark = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion } }
    expect((await unasked.next(2))[1]).toEqual({ type: 'BOOKMARK', object: bookmark })
    for (const each of [objects, rows, unasked]) await each.leave()
  })

  it('have only the resourceVersion in the metadata of custom resource bookmarks [P30]', async () => {
    const sample = await sampleServer()
    const schema = { openAPIV3Schema: { type: 'object' } }
    await sample.ask(definitionsPath, { method: 'POST', body: widgetDefinition([{ schema }]) })
    const widgets = '/apis/g.example.com/v1/namespaces/default/widgets'
    const { json } = await eventually(
      () => sample.ask(widgets),
      ({ status }) => status === 200,
    )
    const { resourceVersion } = json.metadata
    for (const version of ['v1', 'v1beta1']) {
      const accept = `application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=${version}`
      const stream = await watch(sample, `allowWatchBookmarks=true&resourceVersion=${resourceVersion}`, { accept }, widgets)
      const pending = stream.next(1)
      await sample.clock.advance(60_000)
      const object = { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: { resourceVersion } }
      expect(await pending).toEqual([{ type: 'BOOKMARK', object }])
      await stream.leave()
    }
  })

  it('report a compacted version as an ERROR event with 410 [P314]', async () => {
    const sample = await sampleServer()
    const { storage } = sample
    const version = await make(sample, 'a')
    await make(sample, 'b')
    await sample.clock.advance(10 * 60_000)
    await make(sample, 'c')
    await sample.clock.advance(10 * 60_000)
    await make(sample, 'd')
    expect(storage.compacted).toBeGreaterThan(Number(version))
    const [event] = await (await watch(sample, `resourceVersion=${version}`)).rest()
    expect(event).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } })
  })

  it('end at the timeout, and when the server closes [P159]', async () => {
    const sample = await sampleServer()
    const timed = (await watch(sample, 'timeoutSeconds=5')).rest()
    const open = (await watch(sample, '')).rest()
    await sample.clock.advance(5_000)
    expect(await timed).toEqual([])
    await sample.server.close()
    expect(await open).toEqual([])
  })

  it('end at once with a negative timeout [P159]', async () => {
    const sample = await sampleServer()
    await make(sample, 'a')
    for (const seconds of ['-1', '-9223372036854775808']) {
      expect(await (await watch(sample, `timeoutSeconds=${seconds}`)).rest()).toEqual([])
      expect((await sample.ask(`${maps}?watch=1&timeoutSeconds=${seconds}&fieldSelector=foo=bar`)).status).toBe(400)
    }
    const unlimited = await watch(sample, 'timeoutSeconds=0')
    expect(summaries(await unlimited.next(1))).toEqual(['ADDED a'])
    await unlimited.leave()
  })

  it('end a streamed list with the empty list in the negotiated form', async () => {
    const sample = await sampleServer()
    const query = '?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
    const blueprint = async (accept: string) => {
      const gone = new AbortController()
      const { body } = await sample.server.handle(
        requestOf(`${maps}${query}`, { user: administrator, headers: { accept }, signal: gone.signal }),
      )
      if (body.kind !== 'stream') throw new Error('no stream')
      for await (const piece of body.stream) {
        gone.abort()
        const found = /(?:azhz|eyJ)[A-Za-z0-9+/=]+/.exec(Buffer.from(piece).toString('latin1'))
        return Buffer.from(found?.[0] ?? '', 'base64').toString('latin1')
      }
      return ''
    }
    expect(JSON.parse(await blueprint('application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'))).toEqual({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: {},
      items: null,
    })
    expect(await blueprint('application/vnd.kubernetes.protobuf')).toMatch(/^k8s\0.*ConfigMapList/s)
  })

  it('use the next acceptable form for a streamed list as Table, or fail with 406', async () => {
    const sample = await sampleServer()
    await make(sample, 'a')
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
    const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    expect((await sample.ask(`${maps}?watch=1&${query}`, { headers: { accept: table } })).status).toBe(406)
    const stream = await watch(sample, query, { accept: `${table},application/json` })
    expect(summaries(await stream.next(2))).toEqual(['ADDED a', 'BOOKMARK '])
    await stream.leave()
  })

  it('begin without the existing objects on request', async () => {
    const sample = await sampleServer()
    await make(sample, 'a')
    for (const version of ['', '0']) {
      const stream = await watch(sample, `sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=${version}`)
      await make(sample, `b${version}`)
      expect(summaries(await stream.next(1))).toEqual([`ADDED b${version}`])
      await stream.leave()
    }
    const refused = ['sendInitialEvents=false', 'sendInitialEvents=false&resourceVersionMatch=NotOlderThan&continue=x']
    for (const query of refused) expect((await sample.ask(`${maps}?watch=1&${query}`)).status, query).toBe(400)
  })

  it('have the options of lists when only the deprecated path requests the watch', async () => {
    const sample = await sampleServer()
    const version = await make(sample, 'a')
    const old = maps.replace('/api/v1/', '/api/v1/watch/')
    const streamed = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0'
    const refusal = async (query: string) => {
      const { status, json } = await sample.ask(`${old}?${query}`)
      return `${status} ${(json as { message?: string }).message}`
    }
    expect(await refusal(streamed)).toBe('400 sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list')
    expect(await refusal('resourceVersionMatch=NotOlderThan')).toMatch('400 resourceVersionMatch is forbidden unless')
    expect(await refusal(`watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=${version}`)).toMatch(
      '400 resourceVersionMatch',
    )
    const gone = new AbortController()
    const target = `${old}?resourceVersionMatch=NotOlderThan&resourceVersion=${version}`
    const { status } = await sample.server.handle(requestOf(target, { user: administrator, signal: gone.signal }))
    gone.abort()
    expect(status).toBe(200)
  })

  it('send the columns of Tables once [P193]', async () => {
    const sample = await sampleServer()
    await make(sample, 'a')
    const stream = await watch(sample, '', { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
    await make(sample, 'b')
    const events = await stream.next(2)
    expect(
      events.map(({ object }) => [
        object.kind,
        (object as unknown as { columnDefinitions: object[] | null }).columnDefinitions?.length,
      ]),
    ).toEqual([
      ['Table', 3],
      ['Table', undefined],
    ])
    await stream.leave()
  })

  it.each([
    ['sendInitialEvents=true', 'sendInitialEvents'],
    ['resourceVersionMatch=NotOlderThan', 'resourceVersionMatch'],
    ['resourceVersion=x', 'invalid resource version'],
    ['labelSelector=a%20b', 'unable to parse'],
  ])('refuses %s before the stream starts [P154]', async (query, why) => {
    const { json } = await (await sampleServer()).ask(`${maps}?watch=1&${query}`)
    expect(json).toMatchObject({ code: 400, message: expect.stringContaining(why) })
  })
})

describe('streamed lists', () => {
  const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'

  async function opened(release: string, target: string, headers: Record<string, string | string[]>) {
    const sample = await sampleServer({ features: createFeatures(release) })
    await make(sample, 'a')
    const gone = new AbortController()
    const request = requestOf(`${maps}?watch=1&${target}`, { user: administrator, headers, signal: gone.signal })
    const response = await sample.server.handle(request)
    if (response.body.kind !== 'stream') throw new Error(`no stream: ${response.status}`)
    return { sample, gone, headers: response.headers, pieces: response.body.stream[Symbol.asyncIterator]() }
  }

  it('are compressed chunk by chunk for clients that accept gzip, since 1.37', async () => {
    const { sample, gone, headers, pieces } = await opened('1.37', query, { 'accept-encoding': 'br, gzip' })
    expect([headers['content-encoding'], headers.vary]).toEqual(['gzip', 'Accept-Encoding'])
    let text = ''
    const read = async (until: string) => {
      while (!text.includes(until)) text += gunzipSync((await pieces.next()).value).toString()
    }
    await read('k8s.io/initial-events-end')
    expect(text).toContain('"name":"a"')
    await make(sample, 'b')
    await read('"name":"b"')
    gone.abort()
    expect((await pieces.next()).done).toBe(true)
  })

  it.each([
    ['before 1.37', '1.36', query, { 'accept-encoding': 'gzip' }],
    ['for other watches', '1.37', 'resourceVersion=1', { 'accept-encoding': 'gzip' }],
    ['without bookmarks', '1.37', query.replace('&allowWatchBookmarks=true', ''), { 'accept-encoding': 'gzip' }],
    ['for other codings', '1.37', query, { 'accept-encoding': 'br, gzip;q=1' }],
    ['by a second field', '1.37', query, { 'accept-encoding': ['br', 'gzip'] }],
    ['over a WebSocket', '1.37', query, { 'accept-encoding': 'gzip', connection: 'Upgrade', upgrade: 'websocket' }],
  ])('are not compressed %s', async (_, release, target, given) => {
    const { gone, headers } = await opened(release, target, given)
    gone.abort()
    expect([headers['content-encoding'], headers.vary]).toEqual([undefined, undefined])
  })
})
