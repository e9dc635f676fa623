import type { ResourceDefinition } from '@krmkit/kinds'
import { decodeProtobuf, encodeProtobuf, readEnvelope } from '@krmkit/schema'
import { hasProtobufMagic, writeEnvelope } from '@krmkit/schema/protobuf'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asPartialList, asTable, configMap, configMaps, names, protobuf, send, startApi, type TestApi } from './server.ts'
import { catalog, widget, widgetKinds, widgets } from './widgets.ts'

/** Protobuf, and resources without it. @see API protocol specification, 2.6 and 4.4 */

const collection = ({ group, version, resource }: ResourceDefinition) =>
  `${group === '' ? '/api' : `/apis/${group}`}/${version}/${resource.name}`
const listed = catalog.definitions.filter(({ resource }) => resource.verbs.includes('list'))

let api: TestApi
beforeAll(async () => {
  api = await startApi({ types: catalog.types })
  await api.post(configMaps, configMap('a', { data: { k: 'v' } }))
  await api.post(configMaps, configMap('b'))
})
afterAll(() => api.close())

describe('protobuf', () => {
  it('responses: the prefix, then the envelope with type and object [P34, P35, P190]', async () => {
    const answer = await api.get(`${configMaps}/a`, {}, { accept: protobuf })
    expect([answer.status, answer.headers['content-type']]).toEqual([200, protobuf])
    expect([...answer.bytes.subarray(0, 4)]).toEqual([0x6b, 0x38, 0x73, 0x00])
    const envelope = readEnvelope(answer.bytes)
    expect(envelope).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' })
    const type = catalog.types.struct('core/v1.ConfigMap')
    expect(decodeProtobuf(type, envelope).object).toMatchObject({
      data: { k: 'v' },
      metadata: { name: 'a', namespace: 'default' },
    })
    expect(readEnvelope((await api.get(configMaps, {}, { accept: protobuf })).bytes)).toMatchObject({
      apiVersion: 'v1',
      kind: 'ConfigMapList',
    })
    const missing = await api.get(`${configMaps}/missing`, {}, { accept: protobuf })
    expect([missing.status, readEnvelope(missing.bytes).kind]).toEqual([404, 'Status'])
  })

  it('every served kind is listed as protobuf [P190]', async () => {
    for (const definition of listed) {
      const { status, bytes, headers } = await api.get(collection(definition), {}, { accept: protobuf })
      expect([status, headers['content-type'], hasProtobufMagic(bytes)], collection(definition)).toEqual([200, protobuf, true])
      const { group, version, listKind } = definition.kind
      expect(readEnvelope(bytes)).toMatchObject({ kind: listKind, apiVersion: group === '' ? version : `${group}/${version}` })
    }
  })

  it('bodies: objects sent as protobuf read back as JSON [P190]', async () => {
    const type = catalog.types.struct('core/v1.ConfigMap')
    const body = encodeProtobuf(type, {
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'p190' },
      data: { from: 'protobuf' },
    })
    const made = await api.send('POST', configMaps, { body, headers: { 'content-type': protobuf } })
    expect([made.status, made.json.data]).toEqual([201, { from: 'protobuf' }])
    const next = encodeProtobuf(type, { ...made.json, data: { from: 'put' } })
    expect(
      (await api.send('PUT', `${configMaps}/p190`, { body: next, headers: { 'content-type': protobuf, accept: protobuf } }))
        .status,
    ).toBe(200)
    expect((await api.get(`${configMaps}/p190`)).json.data).toEqual({ from: 'put' })
    const options = encodeProtobuf(catalog.types.struct('meta/v1.DeleteOptions'), {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      dryRun: ['All'],
    })
    expect((await api.delete(`${configMaps}/p190`, { body: options, headers: { 'content-type': protobuf } })).status).toBe(200)
    expect((await api.get(`${configMaps}/p190`)).status).toBe(200)
  })

  it('the envelope may contain JSON with its contentType [P36]', async () => {
    const raw = new TextEncoder().encode(JSON.stringify(configMap('p36', { data: { in: 'json' } })))
    const body = writeEnvelope({ apiVersion: 'v1', kind: 'ConfigMap', raw, contentEncoding: '', contentType: 'application/json' })
    const made = await api.send('POST', configMaps, { body, headers: { 'content-type': protobuf } })
    expect([made.status, made.json.data]).toEqual([201, { in: 'json' }])
    const packed = writeEnvelope({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      raw,
      contentEncoding: 'gzip',
      contentType: 'application/json',
    })
    expect((await api.send('POST', configMaps, { body: packed, headers: { 'content-type': protobuf } })).status).toBe(400)
  })

  it('another prefix is rejected by server and client [P34, P37]', async () => {
    const { bytes } = await api.get(`${configMaps}/a`, {}, { accept: protobuf })
    for (const at of [0, 1, 2, 3]) {
      const broken = Uint8Array.from(bytes)
      broken[at] = 0x7f
      expect(hasProtobufMagic(broken)).toBe(false)
      expect(() => readEnvelope(broken), `byte ${at}`).toThrow(/prefix|magic|expected/i)
      const sent = await api.send('POST', configMaps, { body: broken, headers: { 'content-type': protobuf } })
      expect([sent.status, sent.json.reason]).toEqual([400, 'BadRequest'])
    }
  })
})

describe('custom resources and APIs of other servers', () => {
  const own = widgetKinds({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true })
  let custom: TestApi
  beforeAll(async () => {
    custom = await startApi({ types: catalog.types, kinds: [...catalog.definitions, ...own] })
    expect((await custom.post(widgets, widget('w', { size: 3 }))).status).toBe(201)
  })
  afterAll(() => custom.close())

  it('custom resources have no protobuf; the next accepted type is used [P191]', async () => {
    for (const path of [widgets, `${widgets}/w`]) {
      const refused = await custom.get(path, {}, { accept: protobuf })
      // The error itself can be protobuf.
      expect([refused.status, readEnvelope(refused.bytes).kind], path).toEqual([406, 'Status'])
      const answer = await custom.get(path, {}, { accept: `${protobuf},application/json` })
      expect([answer.status, answer.headers['content-type'], answer.json.kind?.replace('List', '')]).toEqual([
        200,
        'application/json',
        'Widget',
      ])
      // Both kinds with the Accept header that clients use for all kinds.
      const builtIn = await custom.get(configMaps, {}, { accept: `${protobuf},application/json` })
      expect(builtIn.headers['content-type']).toBe(protobuf)
    }
    const body = writeEnvelope({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      raw: new Uint8Array(),
      contentEncoding: '',
      contentType: '',
    })
    const sent = await custom.send('POST', widgets, { body, headers: { 'content-type': protobuf } })
    expect([sent.status, sent.json.reason]).toEqual([400, 'BadRequest'])
  })

  it('custom resources have tables, by default with Name and Age [P33, P193]', async () => {
    const { json } = await custom.get(widgets, {}, asTable)
    expect(json.columnDefinitions.map(({ name }) => name)).toEqual(['Name', 'Age'])
    expect(json.rows[0]?.cells[0]).toBe('w')
    expect((await custom.get(widgets, {}, asPartialList)).json.items).toHaveLength(1)
  })

  it('aggregated APIs may lack protobuf; the next accepted type is used [P192]', async () => {
    // An aggregated server that supports custom resources only.
    await using behind = await startApi({
      types: catalog.types,
      kinds: [...catalog.definitions.filter(({ group }) => group === ''), ...own],
    })
    await behind.post(widgets, widget('far'))
    const front: TestApi['server']['handle'] = (request) =>
      (request.path.startsWith('/apis/example.com/') ? behind : api).server.handle(request)
    const accept = `${protobuf},application/json`
    const far = await send(front, 'GET', widgets, { headers: { accept } })
    expect([far.headers['content-type'], names(far.json)]).toEqual(['application/json', ['far']])
    expect((await send(front, 'GET', widgets, { headers: { accept: protobuf } })).status).toBe(406)
    expect((await send(front, 'GET', configMaps, { headers: { accept } })).headers['content-type']).toBe(protobuf)
  })
})
