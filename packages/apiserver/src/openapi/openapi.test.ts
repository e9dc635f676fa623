import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { builtInTypes, createCatalog, type ResourceDefinition } from '@krmkit/kinds'
import { fakeClock, type JsonObject } from '@krmkit/meta'
import type { ApiResponse } from '@krmkit/protocol'
import type { StructType, TypeSource } from '@krmkit/schema'
import { describe, expect, it } from 'vitest'
import { documentRevision } from './fingerprint.ts'
import { createOpenApi, type OpenApi } from './openapi.ts'
import { noRemoteDocuments, type RemoteDocuments, type RemoteSource, remoteDocument } from './remote-documents.ts'

const types = builtInTypes()
const { definitions } = createCatalog({ types })
const clock = fakeClock(Date.UTC(2025, 0, 2, 3, 4, 5))
let resources: readonly ResourceDefinition[] = definitions.filter(({ group }) => ['', 'apps', 'autoscaling'].includes(group))
const builtIn = resources
const openApi = createOpenApi({ resources: () => resources, types, version: 'v1.33.0', clock })

async function get(path: string, headers: Record<string, string> = {}, query = ''): Promise<ApiResponse> {
  return (await openApi.serve({ path, query, headers })) as ApiResponse
}

function bytes(response: ApiResponse): Uint8Array {
  return response.body.kind === 'bytes' ? response.body.bytes : new Uint8Array()
}

function json(response: ApiResponse): JsonObject {
  return JSON.parse(new TextDecoder().decode(bytes(response))) as JsonObject
}

async function relativeUrl(name: string): Promise<URL> {
  const { paths } = json(await get('/openapi/v3')) as { paths: Record<string, { serverRelativeURL: string }> }
  return new URL(paths[name]!.serverRelativeURL, 'http://localhost')
}

/** A resource of a custom group, whose type comes from a schema. */
function widget(schema: JsonObject): ResourceDefinition {
  const kind = { group: 'shop.example.com', version: 'v1', kind: 'Widget' }
  const deployments = definitions.find(({ resource }) => resource.name === 'deployments') as ResourceDefinition
  const type = { ...deployments.kind.type(), name: 'shop.example.com/v1.Widget', raw: schema } as StructType
  return {
    ...deployments,
    group: 'shop.example.com',
    version: 'v1',
    resource: { ...deployments.resource, name: 'widgets', kind },
    kind: { ...deployments.kind, ...kind, listKind: 'WidgetList', type: () => type },
    subresources: [{ ...deployments.resource, name: 'widgets/status', kind, verbs: ['get', 'patch', 'update'] }],
  }
}

describe('/openapi/v3', () => {
  it('lists a document for each group version and each root path [P329]', async () => {
    const index = await get('/openapi/v3')
    expect(index.headers['content-type']).toBe('application/json')
    expect(Object.keys(json(index).paths as JsonObject)).toEqual([
      'api',
      'api/v1',
      'apis',
      'apis/apps',
      'apis/apps/v1',
      'apis/autoscaling',
      'apis/autoscaling/v1',
      'apis/autoscaling/v2',
      'version',
    ])
  })

  it('allows unlimited caching of a document under its hash', async () => {
    const { pathname, searchParams, search } = await relativeUrl('apis/apps/v1')
    expect(pathname).toBe('/openapi/v3/apis/apps/v1')
    expect(searchParams.get('hash')).toMatch(/^[0-9A-F]{128}$/)
    const response = await get(pathname, { accept: 'application/json' }, search.slice(1))
    expect(response.status).toBe(200)
    expect(response.headers).toMatchObject({
      'cache-control': 'public, immutable',
      expires: 'Fri, 02 Jan 2026 03:04:05 GMT',
      etag: `"${searchParams.get('hash')}"`,
      vary: 'Accept, Accept-Encoding',
      'last-modified': 'Thu, 02 Jan 2025 03:04:05 GMT',
    })
    expect(json(response)).toMatchObject({ openapi: '3.0.0', info: { title: 'Kubernetes', version: 'v1.33.0' } })
    expect((await get(pathname)).headers['cache-control']).toBeUndefined()
  })

  it('redirects an old hash to the current one', async () => {
    const { searchParams } = await relativeUrl('api/v1')
    const response = await get('/openapi/v3/api/v1', {}, 'hash=OLD')
    expect(response.status).toBe(301)
    expect(response.body.kind).toBe('empty')
    expect(response.headers.etag).toBe(`"${searchParams.get('hash')}"`)
    expect(response.headers.location).toBe(`/openapi/v3/api/v1?hash=${searchParams.get('hash')}`)
  })

  it('returns 304 for a matching entity tag', async () => {
    const { etag } = (await get('/openapi/v3/api/v1')).headers
    for (const header of [etag as string, `W/${etag as string}`, `"x", ${etag as string}`, '*']) {
      const again = await get('/openapi/v3/api/v1', { 'if-none-match': header })
      expect(again.status).toBe(304)
      expect(again.body.kind).toBe('empty')
    }
    expect((await get('/openapi/v3/api/v1', { 'if-none-match': '"x"' })).status).toBe(200)
    const index = await get('/openapi/v3')
    expect((await get('/openapi/v3', { 'if-none-match': index.headers.etag as string })).status).toBe(304)
  })

  it('returns 412 unless If-Match names the document', async () => {
    const { etag } = (await get('/openapi/v3/api/v1')).headers
    const status = async (tag: string) => (await get('/openapi/v3/api/v1', { 'if-match': tag })).status
    expect([await status(etag as string), await status('*'), await status(`"x", ${etag as string}`)]).toEqual([200, 200, 200])
    expect([await status('"x"'), await status(`W/${etag as string}`)]).toEqual([412, 412])
  })

  it('leaves the time of the change out of a 304', async () => {
    const { headers } = await get('/openapi/v3/api/v1', { 'if-none-match': '*' })
    expect(headers['last-modified']).toBeUndefined()
  })

  it('supports If-Modified-Since without an entity tag', async () => {
    const since = (header: string) => get('/openapi/v3/api/v1', { 'if-modified-since': header })
    expect((await since('Thu, 02 Jan 2025 03:04:05 GMT')).status).toBe(304)
    expect((await since('Thu, 02 Jan 2025 03:04:04 GMT')).status).toBe(200)
    expect((await since('yesterday')).status).toBe(200)
  })

  it.each(['@v1.0', '.v1.0'])('protobuf under the name that ends in %s', async (version) => {
    const response = await get('/openapi/v3/api/v1', {
      accept: `application/com.github.proto-openapi.spec.v3${version}+protobuf`,
    })
    expect(response.headers['content-type']).toBe('application/com.github.proto-openapi.spec.v3.v1.0+protobuf')
    expect([...bytes(response).subarray(0, 7)]).toEqual([0x0a, 5, 0x33, 0x2e, 0x30, 0x2e, 0x30])
    expect(response.headers.etag).toBe((await get('/openapi/v3/api/v1')).headers.etag)
  })

  it('compresses documents for clients that accept gzip', async () => {
    const plain = await get('/openapi/v3/api/v1')
    const packed = await get('/openapi/v3/api/v1', { 'accept-encoding': 'br;q=1, gzip' })
    expect(packed.headers['content-encoding']).toBe('gzip')
    expect(bytes(packed).length).toBeLessThan(bytes(plain).length / 5)
    expect(gunzipSync(bytes(packed)).equals(bytes(plain))).toBe(true)
    expect((await get('/openapi/v3/api/v1', { 'accept-encoding': 'gzip;q=0' })).headers['content-encoding']).toBeUndefined()
  })

  it('rejects other media types and unknown documents', async () => {
    expect((await get('/openapi/v3/api/v1', { accept: 'text/html' })).status).toBe(406)
    const unknown = await get('/openapi/v3/apis/apps/v77')
    expect(unknown).toEqual({ status: 404, headers: {}, body: { kind: 'empty' } })
    expect((await get('/openapi/v3/__proto__')).status).toBe(404)
    for (const path of ['/openapi/v3/', '/openapi/v3/api/v1/']) expect((await get(path)).status, path).toBe(404)
    expect(openApi.serve({ path: '/apis', query: '', headers: {} })).toBeUndefined()
    expect(openApi.serve({ path: '/openapi', query: '', headers: {} })).toBeUndefined()
  })

  it('describes subresources with kinds of other groups [P2]', async () => {
    const { components, paths } = json(await get('/openapi/v3/apis/apps/v1')) as Record<string, Record<string, JsonObject>>
    const scale = paths!['/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale']!
    expect((scale.get as JsonObject)['x-kubernetes-group-version-kind']).toEqual({
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
    })
    expect(Object.keys(components!.schemas!)).toContain('io.k8s.api.autoscaling.v1.Scale')
    const pod = json(await get('/openapi/v3/api/v1')).paths as Record<string, JsonObject>
    const log = pod['/api/v1/namespaces/{namespace}/pods/{name}/log']!
    expect((log.parameters as { name: string }[]).map(({ name }) => name)).toContain('tailLines')
    expect(Object.keys(pod)).toContain('/api/v1/namespaces/{namespace}/pods/{name}/proxy/{path}')
  })
})

describe('/openapi/v2', () => {
  it('is JSON unless protobuf is requested', async () => {
    const response = await get('/openapi/v2', { accept: 'application/json' })
    expect(response.headers['content-type']).toBe('application/json')
    expect(json(response)).toMatchObject({ swagger: '2.0', security: [{ BearerToken: [] }] })
    expect((await get('/openapi/v2', { accept: 'text/html' })).status).toBe(406)
    expect((await get('/openapi/v2')).headers['content-type']).toBe('application/json')
  })

  it.each(['@v1.0', '.v1.0'])('protobuf under the name that ends in %s', async (version) => {
    const response = await get('/openapi/v2', { accept: `application/com.github.proto-openapi.spec.v2${version}+protobuf` })
    expect(response.headers['content-type']).toBe('application/com.github.proto-openapi.spec.v2.v1.0+protobuf')
    expect([...bytes(response).subarray(0, 5)]).toEqual([0x0a, 3, 0x32, 0x2e, 0x30])
    expect(response.headers.etag).toBe((await get('/openapi/v2')).headers.etag)
  })
})

describe('custom resources', () => {
  it('are published with their schema, and change only their own document', async () => {
    const core = (await get('/openapi/v3/api/v1')).headers.etag
    const schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { size: { type: 'integer', maximum: 9 } } } },
    }
    resources = [...builtIn, { ...widget(schema), custom: { schema } }]
    const document = json(await get('/openapi/v3/apis/shop.example.com/v1')) as Record<string, Record<string, JsonObject>>
    const { 'com.example.shop.v1.Widget': body, 'com.example.shop.v1.WidgetList': list } = document.components!.schemas as Record<
      string,
      JsonObject
    >
    expect((body!.properties as Record<string, JsonObject>).spec).toEqual(schema.properties.spec)
    expect(list!['x-kubernetes-group-version-kind']).toEqual([{ group: 'shop.example.com', version: 'v1', kind: 'WidgetList' }])
    const optionsGroups = (from: Record<string, Record<string, JsonObject>>) => {
      const options = from.components!.schemas!['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'] as JsonObject
      return (options['x-kubernetes-group-version-kind'] as { group: string }[]).map(({ group }) => group)
    }
    const inCore = optionsGroups(json(await get('/openapi/v3/api/v1')) as Record<string, Record<string, JsonObject>>)
    const serverGroups = ['admission.k8s.io', 'apiextensions.k8s.io', 'apiregistration.k8s.io', 'imagepolicy.k8s.io']
    expect(inCore).toEqual(expect.arrayContaining(serverGroups))
    expect(optionsGroups(document)).toEqual(inCore.filter((group) => !serverGroups.includes(group)))
    expect([document.info, Object.keys(document.components!)]).toEqual([
      { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' },
      ['schemas'],
    ])
    const accept = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf'
    const message = Buffer.from(bytes(await get('/openapi/v3/apis/shop.example.com/v1', { accept })))
    expect([message.includes('CRD Swagger'), message.includes('BearerToken')]).toEqual([true, false])
    const patch = document.paths!['/apis/shop.example.com/v1/namespaces/{namespace}/widgets/{name}']!.patch as JsonObject
    expect(Object.keys((patch.requestBody as JsonObject).content as JsonObject)).not.toContain(
      'application/strategic-merge-patch+json',
    )
    expect((await get('/openapi/v3/api/v1')).headers.etag).toBe(core)
    const before = (await get('/openapi/v3/apis/shop.example.com/v1')).headers.etag
    resources = [...builtIn, widget({ type: 'object' })]
    expect((await get('/openapi/v3/apis/shop.example.com/v1')).headers.etag).not.toBe(before)
    expect(Object.keys(json(await get('/openapi/v2')).definitions as JsonObject)).toContain('com.example.shop.v1.Widget')
    resources = builtIn
    expect((await get('/openapi/v3/apis/shop.example.com/v1')).status).toBe(404)
  })
})

describe('entity tags', () => {
  const schema = { type: 'object', properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } }
  const fresh = (all: readonly ResourceDefinition[], version = 'v1.33.0', from: TypeSource = types) =>
    createOpenApi({ resources: () => all, types: from, version, clock })
  const hashes = async (from: OpenApi): Promise<Record<string, string>> => {
    const { paths } = json((await from.serve({ path: '/openapi/v3', query: '', headers: {} })) as ApiResponse)
    return Object.fromEntries(
      Object.entries(paths as Record<string, { serverRelativeURL: string }>).map(([name, at]) => [name, at.serverRelativeURL]),
    )
  }

  it('are available before the documents are built', async () => {
    const requestedNames: string[] = []
    const watched: TypeSource = {
      ...types,
      struct(name) {
        requestedNames.push(name)
        return types.struct(name)
      },
    }
    const reading = (definition: ResourceDefinition): ResourceDefinition => ({
      ...definition,
      kind: {
        ...definition.kind,
        type() {
          requestedNames.push(definition.resource.name)
          return definition.kind.type()
        },
      },
    })
    const lazy = fresh([...builtIn.map(reading), widget(schema)], 'v1.33.0', watched)
    await hashes(lazy)
    expect(requestedNames.filter((name) => !name.startsWith('meta/'))).toEqual([])
    const response = await lazy.serve({ path: '/openapi/v3/api/v1', query: 'hash=OLD', headers: {} })
    expect(response?.status).toBe(301)
    const { etag } = (await lazy.serve({ path: '/openapi/v2', query: '', headers: { 'if-none-match': '*' } }))!.headers
    expect(etag).toMatch(/^"[0-9A-F]{128}"$/)
    expect(requestedNames.filter((name) => !name.startsWith('meta/'))).toEqual([])
  })

  it('are equal on all servers with the same content', async () => {
    const known = await hashes(fresh([...builtIn, widget(schema)]))
    expect(await hashes(fresh([...builtIn, widget(structuredClone(schema))]))).toEqual(known)
    const changed = await hashes(fresh([...builtIn, widget({ ...schema, description: 'new' })]))
    const differing = Object.keys(known).filter((name) => known[name] !== changed[name])
    expect(differing).toEqual(['apis/shop.example.com/v1'])
    const newer = await hashes(fresh([...builtIn, widget(schema)], 'v1.34.0'))
    expect(Object.keys(known).filter((name) => known[name] === newer[name])).toEqual([])
  })

  it('are not published for groups of custom resources', async () => {
    const custom = { ...widget(schema), custom: { schema } }
    const names = Object.keys(await hashes(fresh([...builtIn, custom])))
    expect(names).toContain('apis/shop.example.com/v1')
    expect(names).not.toContain('apis/shop.example.com')
    expect(names).toContain('apis/apps')
  })

  /** A failure means that documents of the same resources changed: increment `documentRevision` and update the digest. */
  it('depend on the revision of the document format', async () => {
    const own = fresh([{ ...widget(schema), custom: { schema } }], 'v1.33.0')
    const [v2, v3] = await Promise.all(
      ['/openapi/v2', '/openapi/v3/apis/shop.example.com/v1'].map(async (path) =>
        json((await own.serve({ path, query: '', headers: {} })) as ApiResponse),
      ),
    )
    // Metadata types change with the release only.
    const names = ['com.example.shop.v1.Widget', 'com.example.shop.v1.WidgetList']
    const schemas = (v3!.components as { schemas: JsonObject }).schemas
    const made = [
      v2!.paths,
      v2!.parameters,
      v3!.info,
      Object.keys(v3!.components as JsonObject),
      v3!.paths,
      ...names.flatMap((name) => [(v2!.definitions as JsonObject)[name], schemas[name]]),
    ]
    const digest = createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 16)
    expect({ documentRevision, digest }).toEqual({ documentRevision: 4, digest: '19b722c045d05cff' })
  })
})

describe('documents of other servers', () => {
  const flunders = '/apis/wardle.example.com/v1/flunders'
  const other = {
    paths: { [flunders]: { get: { responses: { 200: { schema: { $ref: '#/definitions/Flunder' } } } } } },
    definitions: { Flunder: { type: 'object' } },
  }
  let remote: RemoteDocuments = noRemoteDocuments
  const source: RemoteSource = {
    get documents() {
      return remote
    },
    fetchV2: async () => undefined,
  }
  const joined = createOpenApi({ resources: () => builtIn, types, version: 'v1.33.0', clock, remote: source })
  const ask = async (path: string) => (await joined.serve({ path, query: '', headers: {} })) as ApiResponse

  it('are part of the index and of the v2 document while the other server is available', async () => {
    const before = (await ask('/openapi/v2')).headers.etag
    const address = '/openapi/v3/apis/wardle.example.com/v1?hash=ABC'
    remote = {
      v3: new Map([['apis/wardle.example.com/v1', address]]),
      converted: new Map([['apis/old.example.com/v1', { etag: '', hash: 'DEF', document: { openapi: '3.0.0', paths: {} } }]]),
      v2: [remoteDocument(other, { prefix: '/apis/wardle.example.com/v1/', etag: '1' })],
    }
    const { paths } = json(await ask('/openapi/v3')) as { paths: JsonObject }
    expect(paths['apis/wardle.example.com/v1']).toEqual({ serverRelativeURL: address })
    expect(paths['apis/old.example.com/v1']).toEqual({ serverRelativeURL: '/openapi/v3/apis/old.example.com/v1?hash=DEF' })
    expect(json(await ask('/openapi/v3/apis/old.example.com/v1'))).toEqual({ openapi: '3.0.0', paths: {} })
    const v2 = json(await ask('/openapi/v2')) as { paths: JsonObject; definitions: JsonObject }
    expect(v2.paths[flunders]).toEqual(other.paths[flunders])
    expect(v2.definitions.Flunder).toEqual({ type: 'object' })
    expect((await ask('/openapi/v2')).headers.etag).not.toBe(before)
    remote = noRemoteDocuments
    expect((await ask('/openapi/v2')).headers.etag).toBe(before)
    expect(Object.keys(json(await ask('/openapi/v3')).paths as JsonObject)).not.toContain('apis/wardle.example.com/v1')
  })
})

it('shared options list the kinds present at start, whenever the first document is requested', async () => {
  let served = builtIn
  const late = createOpenApi({ resources: () => served, types, version: 'v1.33.0', clock })
  served = [...builtIn, widget({ type: 'object' })]
  const { body } = (await late.serve({ path: '/openapi/v3/api/v1', query: '', headers: {} })) as ApiResponse
  const bytes = body.kind === 'bytes' ? body.bytes : new Uint8Array()
  expect(new TextDecoder().decode(bytes)).not.toContain('shop.example.com')
})
