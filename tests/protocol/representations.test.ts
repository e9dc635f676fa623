import { createCatalog, type ResourceDefinition } from '@krmkit/kinds'
import type { ApiObject } from '@krmkit/meta'
import { decode, decodeProtobuf, encodeJson, readEnvelope } from '@krmkit/schema'
import { decodeWatchEvent } from '@krmkit/schema/protobuf'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asPartial, asPartialList, asTable, configMap, configMaps, type Doc, protobuf, startApi, type TestApi } from './server.ts'

/** Representations of responses and bodies. @see API protocol specification, 2.5 and 4.4 */

const catalog = createCatalog()
const collection = ({ group, version, resource }: ResourceDefinition) =>
  `${group === '' ? '/api' : `/apis/${group}`}/${version}/${resource.name}`
const listed = catalog.definitions.filter(({ resource }) => resource.verbs.includes('list'))
const stored = listed.filter(({ resource }) => resource.verbs.includes('create') && resource.virtual !== true)

let api: TestApi
beforeAll(async () => {
  api = await startApi({ types: catalog.types })
  await api.post(configMaps, configMap('a', { data: { k: 'v' } }))
  await api.post(configMaps, configMap('b'))
})
afterAll(() => api.close())

describe('tables', () => {
  it('a Table of a list, of an object, and of a written object [P31, P193]', async () => {
    const list = (await api.get(configMaps, {}, asTable)).json
    expect(Object.keys(list)).toEqual(['kind', 'apiVersion', 'metadata', 'columnDefinitions', 'rows'])
    expect(list).toMatchObject({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: String(api.storage.revision) },
    })
    expect(list.rows.map(({ cells }) => cells[0])).toEqual(['a', 'b'])
    expect((await api.get(`${configMaps}/a`, {}, asTable)).json.rows.map(({ cells }) => cells)).toEqual([['a', 1, '0s']])
    const made = await api.post(configMaps, configMap('c'), { headers: asTable })
    expect([made.status, made.json.kind, made.json.rows[0]?.cells]).toEqual([201, 'Table', ['c', 0, '0s']])
    const gone = await api.delete(`${configMaps}/c`, { headers: asTable })
    expect(gone.json).toMatchObject({ kind: 'Status', status: 'Success' })
  })

  it.each([
    ['', 'PartialObjectMetadata'],
    ['Metadata', 'PartialObjectMetadata'],
    ['Object', 'ConfigMap'],
    ['None', undefined],
  ])('rows follow includeObject=%s [P31]', async (includeObject, kind) => {
    const { json } = await api.get(configMaps, { includeObject }, asTable)
    expect(json.rows[0]?.object?.kind).toBe(kind)
    expect((await api.get(configMaps, { includeObject: 'All' }, asTable)).status).toBe(400)
  })

  it('every kind has complete column definitions, with Name first [P32, P33]', async () => {
    expect(listed.length).toBeGreaterThan(50)
    for (const definition of listed) {
      const { status, json } = await api.get(collection(definition), {}, asTable)
      expect([status, json.kind, Array.isArray(json.rows ?? [])], collection(definition)).toEqual([200, 'Table', true])
      expect(json.columnDefinitions[0]).toMatchObject({ name: expect.stringMatching(/^(Name|Last Seen)$/) })
      for (const column of json.columnDefinitions) {
        expect(Object.keys(column).sort(), collection(definition)).toEqual(['description', 'format', 'name', 'priority', 'type'])
        expect(column.type).toMatch(/^(string|integer|number|boolean|date)$/)
      }
    }
  })

  it('a kind without columns has Name and Created At [P33]', async () => {
    await api.post('/api/v1/namespaces/default/limitranges', { metadata: { name: 'l' } })
    const { json } = await api.get('/api/v1/namespaces/default/limitranges', {}, asTable)
    expect(json.columnDefinitions).toMatchObject([
      { name: 'Name', type: 'string' },
      { name: 'Created At', type: 'date' },
    ])
    expect(json.rows[0]?.cells).toEqual(['l', '2024-01-01T00:00:00Z'])
  })

  it('clients without Table support name JSON as an alternative [P193]', async () => {
    const both = `application/json;as=Table;g=meta.k8s.io;v=v9,application/json`
    expect((await api.get(configMaps, {}, { accept: both })).json.kind).toBe('ConfigMapList')
    const kubectl =
      'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json'
    expect((await api.get(configMaps, {}, { accept: kubectl })).json).toMatchObject({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
    })
    for (const accept of [
      'application/json;as=Table;g=meta.k8s.io;v=v9',
      'application/json;as=Table;g=other;v=v1',
      'application/json;as=Picture;g=meta.k8s.io;v=v1',
    ]) {
      expect((await api.get(configMaps, {}, { accept })).json, accept).toMatchObject({ code: 406 })
    }
  })
})

describe('metadata alone', () => {
  it('a list without objects is null, as a list that Go has not filled [P193]', async () => {
    const { json } = await api.get(configMaps, { labelSelector: 'none' }, asPartialList)
    expect(json.items).toBeNull()
    const { text } = await api.get(
      configMaps,
      { labelSelector: 'none' },
      { accept: asPartialList.accept.replace('json', 'yaml') },
    )
    expect(text).toContain('\nitems: null\n')
  })

  it('every served kind has a PartialObjectMetadataList [P193]', async () => {
    for (const definition of listed.filter(({ resource }) => resource.virtual !== true)) {
      const { status, json } = await api.get(collection(definition), { limit: '500' }, asPartialList)
      expect(
        [status, json.kind, json.apiVersion, json.items === null || Array.isArray(json.items)],
        collection(definition),
      ).toEqual([200, 'PartialObjectMetadataList', 'meta.k8s.io/v1', true])
    }
  })

  it('an object is its type and its metadata [P193]', async () => {
    const whole = (await api.get(`${configMaps}/a`)).json
    const { json } = await api.get(`${configMaps}/a`, {}, asPartial)
    expect(json).toEqual({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: whole.metadata })
    const list = (await api.get(configMaps, {}, asPartialList)).json
    expect(list.items[0]).toEqual(json)
    expect((await api.get(configMaps, {}, asPartial)).status).toBe(406)
    expect((await api.get(`${configMaps}/a`, {}, asPartialList)).status).toBe(406)
    const changed = await api.patch(`${configMaps}/a`, { data: { k: 'v' } }, { headers: asPartial })
    expect(changed.json).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'a' } })
  })
})

describe('negotiation', () => {
  it.each([
    undefined,
    '',
    '*/*',
    'application/json',
    'application/json;q=0',
    'text/html, application/json;q=0.5',
    'application/json;q=0.2, */*;q=0.1',
  ])('JSON for Accept %s [P189]', async (accept) => {
    const answer = await api.get(`${configMaps}/a`, {}, accept === undefined ? {} : { accept })
    expect([answer.status, answer.headers['content-type'], answer.json.kind]).toEqual([200, 'application/json', 'ConfigMap'])
  })

  it('every verb responds with JSON by default [P189]', async () => {
    const path = `${configMaps}/p189`
    for (const answer of [
      await api.post(configMaps, configMap('p189')),
      await api.put(path, configMap('p189')),
      await api.patch(path, {}),
      await api.delete(path),
      await api.get(path),
    ]) {
      expect(answer.headers['content-type']).toBe('application/json')
    }
  })

  it('YAML works for responses and bodies [P190]', async () => {
    const made = await api.send('POST', configMaps, {
      body: 'metadata:\n  name: yaml\ndata:\n  a: b\n',
      headers: { 'content-type': 'application/yaml', accept: 'application/yaml' },
    })
    expect([made.status, made.headers['content-type']]).toEqual([201, 'application/yaml'])
    expect(made.text).toContain('data:\n  a: b\n')
  })

  it.each(['text/html', 'application/xml', 'image/*', 'application/json;as=Table;g=meta.k8s.io;v=v7', 'nonsense'])(
    '406 for Accept %s, of every verb and of discovery [P194, P313]',
    async (accept) => {
      const headers = { accept }
      const before = api.storage.revision
      const answers = [
        await api.get(configMaps, {}, headers),
        await api.get(`${configMaps}/a`, {}, headers),
        await api.get(configMaps, { watch: '1' }, headers),
        await api.post(configMaps, configMap('never'), { headers }),
        await api.put(`${configMaps}/a`, configMap('a', { data: { changed: 'yes' } }), { headers }),
        await api.patch(`${configMaps}/a`, { data: { changed: 'yes' } }, { headers }),
        await api.delete(`${configMaps}/a`, { headers }),
        await api.delete(configMaps, { headers }),
      ]
      for (const { status, json } of answers) expect([status, json.kind, json.reason]).toEqual([406, 'Status', 'NotAcceptable'])
      expect(answers[0]?.json.message).toContain('application/json, application/yaml, application/vnd.kubernetes.protobuf')
      // Rejected requests change nothing.
      expect(api.storage.revision).toBe(before)
      expect((await api.get('/apis', {}, headers)).status).toBe(406)
    },
  )

  it('406 for a range of subtypes on resources, as kube-apiserver; discovery accepts it [P194]', async () => {
    const headers = { accept: 'application/*' }
    expect((await api.get(`${configMaps}/a`, {}, headers)).status).toBe(406)
    expect((await api.get('/apis', {}, headers)).status).toBe(200)
  })

  it.each(['text/plain', 'application/xml', 'application/json-patch+json', 'nonsense'])(
    '415 for a body of %s [P190]',
    async (type) => {
      const made = await api.post(configMaps, configMap('never'), { headers: { 'content-type': type } })
      expect(made.json).toMatchObject({ kind: 'Status', code: 415, reason: 'UnsupportedMediaType' })
      const put = await api.put(`${configMaps}/a`, configMap('a'), { headers: { 'content-type': type } })
      expect(put.status).toBe(415)
      expect(
        (
          await api.delete(`${configMaps}/a`, {
            body: { kind: 'DeleteOptions', apiVersion: 'v1' },
            headers: { 'content-type': type },
          })
        ).status,
      ).toBe(415)
      expect((await api.get(`${configMaps}/never`)).status).toBe(404)
    },
  )

  it.each(['application/json', '', 'application/yaml', 'application/patch'])('415 for a patch of %s [P145]', async (type) => {
    const answer = await api.send('PATCH', `${configMaps}/a`, { body: {}, headers: { 'content-type': type } })
    expect(answer.json).toMatchObject({ kind: 'Status', code: 415 })
  })

  /** Asserts that a text is indented JSON, as kube-apiserver writes it: two spaces, no newline at the end. */
  function expectIndented(text: string, what: string): void {
    expect(text, what).toBe(JSON.stringify(JSON.parse(text), null, 2))
  }

  const aggregated = { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' }

  it.each([
    ['an object', `${configMaps}/a`, {}],
    ['a list', configMaps, {}],
    ['a Table', configMaps, asTable],
    ['partial metadata', configMaps, { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' }],
    ['a 404', `${configMaps}/missing-x`, {}],
    ['a 400', `${configMaps}?limit=x`, {}],
    ['a 404 of an unknown resource', '/api/v1/namespaces/default/unknowns', {}],
    ['a 406', `${configMaps}/a`, { accept: 'text/plain' }],
    ['the versions of the core group', '/api', {}],
    ['the list of groups', '/apis', {}],
    ['a group', '/apis/apps', {}],
    ['the resources of a version', '/apis/apps/v1', {}],
    ['aggregated discovery', '/apis', aggregated],
    ['component statuses', '/api/v1/componentstatuses', {}],
  ])('pretty indents %s [P160]', async (_, path, headers) => {
    const [target = '', search = ''] = path.split('?')
    const ask = (pretty: Record<string, string>) =>
      api.get(target, { ...Object.fromEntries(new URLSearchParams(search)), ...pretty }, headers)
    const plain = await ask({})
    expect(plain.text.trimEnd()).toBe(JSON.stringify(plain.json))
    for (const value of ['true', '1', 'T', 'True', 'TRUE', 't']) {
      const pretty = await ask({ pretty: value })
      expect([pretty.status, pretty.json], value).toEqual([plain.status, plain.json])
      expectIndented(pretty.text, value)
    }
    for (const value of ['', 'false', '0', 'yes']) expect((await ask({ pretty: value })).text, value).toBe(plain.text)
  })

  it('pretty indents the Status of a deletion, of a rejected write and of a rejected token [P160]', async () => {
    await api.send('POST', configMaps, { body: { metadata: { name: 'short-lived' } } })
    for (const [method, path, options] of [
      ['DELETE', `${configMaps}/short-lived`, {}],
      ['DELETE', configMaps, { query: { labelSelector: 'app=none' } }],
      ['POST', configMaps, { body: { metadata: { name: 'A_B' } } }],
      ['PUT', '/version', {}],
    ] as const) {
      const query = { pretty: 'true', ...('query' in options ? options.query : {}) }
      const { json, text } = await api.send(method, path, { ...options, query })
      expect(json, path).toMatchObject({ kind: 'Status' })
      expectIndented(text, path)
    }
  })

  it('indents the version and the list of paths always [P160]', async () => {
    for (const path of ['/', '/version'])
      for (const pretty of [{}, { pretty: 'false' }]) expectIndented((await api.get(path, pretty)).text, path)
  })

  it.each([
    ['the parameter before the agent', { pretty: 'false' }, { 'user-agent': 'curl/8' }, false],
    ['the agent where the parameter is empty', { pretty: '' }, { 'user-agent': 'curl/8' }, true],
    ['the agent', {}, { 'user-agent': 'Wget/1' }, true],
    ['pretty=1 in Accept before the parameter', { pretty: 'false' }, { accept: 'application/json;pretty=1' }, true],
    ['no other value in Accept', {}, { accept: 'application/json;pretty=true' }, false],
  ])('indentation follows %s [P160]', async (_, query, headers, isIndented) => {
    for (const path of [`${configMaps}/a`, configMaps, `${configMaps}/missing-x`, '/apis']) {
      const { text, json } = await api.get(path, query, headers)
      expect(text, path).toBe(isIndented ? JSON.stringify(json, null, 2) : `${JSON.stringify(json)}\n`)
    }
  })
})

describe('every kind', () => {
  let full: TestApi
  beforeAll(async () => {
    full = await startApi({ types: catalog.types })
    // The smallest object that decodes, with metadata. Written directly to the store, since validation would reject it.
    for (const one of stored.filter(({ toStorage }) => toStorage === undefined)) {
      const { group, version, kind } = one.kind
      const namespace = one.kind.namespaced ? 'default' : ''
      const metadata = {
        name: 'least',
        ...(namespace === '' ? {} : { namespace }),
        uid: 'u',
        creationTimestamp: '2023-12-31T23:00:00Z',
      }
      const given = { kind, apiVersion: group === '' ? version : `${group}/${version}`, metadata }
      const object = decode(one.kind.type(), given).object as unknown as ApiObject
      const { storage } = one
      const collection = `/${storage.group === '' ? 'core' : storage.group}/${storage.resource}/`
      const key = `${collection}${namespace === '' ? '' : `${namespace}/`}least`
      await full.storage.put(key, (revision) => {
        object.metadata.resourceVersion = String(revision)
        return encodeJson(object, { newline: true })
      })
    }
  })
  afterAll(() => full.close())
  const pathOf = (one: ResourceDefinition) =>
    one.kind.namespaced ? collection(one).replace(/[^/]+$/, 'namespaces/default/$&') : collection(one)
  const ofLeast = (items: readonly Doc[]) => items.find(({ metadata }) => metadata.name === 'least')

  it('has all four representations, for lists and objects [P31, P34, P190, P193]', async () => {
    expect(stored.length).toBeGreaterThan(50)
    for (const one of stored) {
      const path = pathOf(one)
      const { kind, listKind } = one.kind
      const json = await full.get(`${path}/least`)
      expect([json.status, json.json.kind, json.json.metadata.name], path).toEqual([200, kind, 'least'])
      expect(ofLeast((await full.get(path)).json.items)?.metadata, path).toEqual(json.json.metadata)
      const partial = (await full.get(`${path}/least`, {}, asPartial)).json
      expect(partial, path).toEqual({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: json.json.metadata })
      expect(ofLeast((await full.get(path, {}, asPartialList)).json.items), path).toEqual(partial)
      for (const [at, query] of [
        [path, { includeObject: 'Object' }],
        [`${path}/least`, { includeObject: 'Object' }],
      ] as const) {
        const table = (await full.get(at, query, asTable)).json
        const row = table.rows.find(({ object }) => object.metadata.name === 'least')
        expect([table.kind, row?.cells.length, row?.object.kind], at).toEqual(['Table', table.columnDefinitions.length, kind])
      }
      const binary = await full.get(`${path}/least`, {}, { accept: protobuf })
      const envelope = readEnvelope(binary.bytes)
      expect([binary.status, envelope.kind, envelope.apiVersion], path).toEqual([200, kind, json.json.apiVersion])
      expect(decodeProtobuf(one.kind.type(), envelope).object, path).toMatchObject({ metadata: { name: 'least', uid: 'u' } })
      expect(readEnvelope((await full.get(path, {}, { accept: protobuf })).bytes).kind).toBe(listKind)
    }
  })

  it('can be watched in all four representations [P28, P29, P141]', async () => {
    for (const one of stored) {
      const path = pathOf(one)
      const query = { allowWatchBookmarks: 'true', fieldSelector: 'metadata.name=least' }
      const seen = []
      for (const headers of [{}, asTable, asPartial]) {
        const watch = await full.watch(path, query, headers)
        seen.push(...(await watch.take(1)).map(({ type, object }) => `${type} ${object.kind}`))
        await watch.leave()
      }
      expect(seen, path).toEqual([`ADDED ${one.kind.kind}`, 'ADDED Table', 'ADDED PartialObjectMetadata'])
      const binary = await full.watch(path, query, { accept: protobuf })
      const frame = Buffer.from((await binary.raw()) ?? [])
      const { type, object } = decodeWatchEvent(frame.subarray(4, 4 + frame.readUInt32BE(0)))
      expect([type, readEnvelope(object).kind], path).toEqual(['ADDED', one.kind.kind])
      await binary.leave()
    }
  })
})
