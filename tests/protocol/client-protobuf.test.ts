import { type Client, createInProcessClient, resourceType, subresourceType } from '@krmkit/client'
import { createCatalog } from '@krmkit/kinds'
import type { ApiObject } from '@krmkit/meta'
import type { ApiRequest, ApiResponse } from '@krmkit/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { administrator, protobuf, startApi, type TestApi } from './server.ts'
import { catalog, widget, widgetKinds } from './widgets.ts'

/** A client that speaks protobuf, beside one that speaks JSON. @see API protocol specification, 2.6 and 4.4 */

interface Loose extends ApiObject {
  data?: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: objects of several kinds
  spec?: any
}
const ConfigMap = resourceType<Loose>({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })
const Deployment = resourceType<Loose>({ group: 'apps', version: 'v1', resource: 'deployments', kind: 'Deployment' })
const Widget = resourceType<Loose>({ group: 'example.com', version: 'v1', resource: 'widgets', kind: 'Widget' })

let api: TestApi
let binary: Client
let text: Client
/** Content types of requests, and of responses. */
const sent: (string | undefined)[] = []
const received: (string | undefined)[] = []

beforeAll(async () => {
  const own = widgetKinds({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true })
  api = await startApi({ types: catalog.types, kinds: [...catalog.definitions, ...own] })
  const handle = async (request: ApiRequest): Promise<ApiResponse> => {
    const response = await api.server.handle(request)
    sent.push(request.headers['content-type'] as string | undefined)
    received.push(response.headers['content-type'] as string | undefined)
    return response
  }
  binary = createInProcessClient(handle, { user: administrator, protobuf: { kinds: createCatalog() } })
  text = createInProcessClient(handle, { user: administrator })
})
afterAll(() => api.close())

/** The media types of a call. */
async function mediaTypes(call: Promise<unknown>): Promise<unknown> {
  sent.length = 0
  received.length = 0
  await call.catch(() => undefined)
  return { sent: [...sent], received: [...received] }
}

describe('a client with protobuf', () => {
  it('reads every served kind as with JSON [P37, P190]', async () => {
    for (const definition of catalog.definitions.filter(({ resource }) => resource.verbs.includes('list'))) {
      const [one, other] = [await binary.list(definition), await text.list(definition)]
      // Protobuf has no empty strings in the metadata of lists.
      if (other.metadata.continue === '') Object.assign(one.metadata, { continue: '' })
      expect(one, definition.resource.name).toEqual(other)
      expect(received.slice(-2)).toEqual([protobuf, 'application/json'])
    }
  })

  it('writes objects and reads the responses [P37, P190]', async () => {
    const draft = { metadata: { name: 'a', labels: { a: '' } }, data: { n: '1' } }
    expect(await mediaTypes(binary.create(ConfigMap, draft))).toEqual({ sent: [protobuf], received: [protobuf] })
    const made = await binary.get(ConfigMap, 'a')
    expect(made).toEqual(await text.get(ConfigMap, 'a'))
    expect(await mediaTypes(binary.update(ConfigMap, { ...made, data: { n: '2' } }))).toEqual({
      sent: [protobuf],
      received: [protobuf],
    })
    const patch = { type: 'merge', patch: { data: { m: null, o: '3' } } } as const
    expect((await binary.patch(ConfigMap, 'a', patch)).data).toEqual({ n: '2', o: '3' })
    const applied = await binary.apply(ConfigMap, { metadata: { name: 'a' }, data: { p: '4' } }, { fieldManager: 'm' })
    expect(applied).toEqual(await text.get(ConfigMap, 'a'))
    expect(await binary.delete(ConfigMap, 'a', { dryRun: true })).toMatchObject({ kind: 'Status', status: 'Success' })
    expect(await binary.deleteCollection(ConfigMap, { namespace: 'default' })).toMatchObject({ status: 'Success' })
    expect(received.at(-1)).toBe(protobuf)
  })

  it('keeps numbers, quantities and times', async () => {
    const container = { name: 'c', image: 'i', resources: { limits: { cpu: '1500m', memory: '1Gi' } } }
    const spec = {
      selector: { matchLabels: { a: 'b' } },
      strategy: { rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [container] } },
    }
    const made = await binary.create(Deployment, { metadata: { name: 'web' }, spec })
    expect(made).toEqual(await text.get(Deployment, 'web'))
    expect(made.spec.strategy.rollingUpdate).toEqual({ maxSurge: '25%', maxUnavailable: 1 })
    const Scale = subresourceType<Loose>(Deployment, { name: 'scale', apiVersion: 'autoscaling/v1', kind: 'Scale' })
    const scale = await binary.get(Scale, 'web')
    expect(await mediaTypes(binary.update(Scale, { ...scale, spec: { replicas: 3 } }))).toEqual({
      sent: [protobuf],
      received: [protobuf],
    })
    expect((await text.get(Scale, 'web')).spec).toEqual({ replicas: 3 })
  })

  it('reads errors with their details', async () => {
    const missing = binary.get(ConfigMap, 'missing')
    await expect(missing).rejects.toMatchObject({
      status: { code: 404, reason: 'NotFound', details: { name: 'missing', kind: 'configmaps' } },
    })
    expect(received.at(-1)).toBe(protobuf)
    const invalid = { metadata: { name: 'A' } }
    const [one, other] = await Promise.allSettled([binary.create(ConfigMap, invalid), text.create(ConfigMap, invalid)])
    expect([one.status, (one as PromiseRejectedResult).reason]).toEqual(['rejected', (other as PromiseRejectedResult).reason])
  })

  it('watches [P37, P190]', async () => {
    await binary.create(ConfigMap, { metadata: { name: 'w' }, data: { n: '1' } })
    const { metadata } = await text.list(ConfigMap)
    const events: unknown[] = []
    const change = async () => {
      await binary.patch(ConfigMap, 'w', { type: 'merge', patch: { data: { n: '2' } } })
      await binary.delete(ConfigMap, 'w')
    }
    const changed = change()
    received.length = 0
    for await (const { type, object } of binary.watch(ConfigMap, { resourceVersion: metadata.resourceVersion ?? '' })) {
      events.push([type, object.kind, object.metadata.name, object.data])
      if (type === 'DELETED') break
    }
    await changed
    expect(received).toContain(`${protobuf};stream=watch`)
    expect(events).toEqual([
      ['MODIFIED', 'ConfigMap', 'w', { n: '2' }],
      ['DELETED', 'ConfigMap', 'w', { n: '2' }],
    ])
    const first = await binary.watch(Deployment).next()
    expect(first.value).toMatchObject({ type: 'ADDED', object: { kind: 'Deployment', metadata: { name: 'web' } } })
  })

  it('ends a watch at an expired version with its error', async () => {
    await api.storage.compact(api.storage.revision)
    const watch = binary.watch(ConfigMap, { resourceVersion: '1' })
    await expect(watch.next()).rejects.toMatchObject({ code: 410 })
  })

  it('speaks JSON with custom resources [P191]', async () => {
    const json = { sent: ['application/json'], received: ['application/json'] }
    expect(await mediaTypes(binary.create(Widget, widget('w', { size: 3 }) as Loose & { metadata: { name: string } }))).toEqual(
      json,
    )
    expect((await binary.get(Widget, 'w')).spec).toEqual({ size: 3 })
    const next = await binary.watch(Widget).next()
    expect(next.value).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'w' } } })
  })

  it('sends objects as JSON that protobuf cannot carry whole, so that the server can reject them', async () => {
    const unknown = { metadata: { name: 'u' }, data: {}, dat: {} }
    await expect(binary.create(ConfigMap, unknown, { fieldValidation: 'Strict' })).rejects.toMatchObject({
      code: 400,
      message: expect.stringContaining('unknown field "dat"'),
    })
    const mistyped = { metadata: { name: 'm' }, data: { n: 1 as unknown as string } }
    await expect(binary.create(ConfigMap, mistyped)).rejects.toMatchObject({ code: 400 })
  })
})

describe('a response in protobuf', () => {
  const respond = async (change: (bytes: Uint8Array) => Uint8Array): Promise<Client> => {
    const namespaces = await api.get('/api/v1/namespaces/default', {}, { accept: protobuf })
    const handle = async (): Promise<ApiResponse> => ({
      status: 200,
      headers: { 'content-type': protobuf },
      body: { kind: 'bytes', bytes: change(Uint8Array.from(namespaces.bytes)) },
    })
    return createInProcessClient(handle, { protobuf: { kinds: createCatalog() } })
  }
  const Namespace = resourceType({ group: '', version: 'v1', resource: 'namespaces', kind: 'Namespace', namespaced: false })

  it.each([0, 1, 2, 3])('is rejected with another byte %s of the prefix [P37]', async (at) => {
    const client = await respond((bytes) => bytes.fill(0x7f, at, at + 1))
    await expect(client.get(Namespace, 'default')).rejects.toMatchObject({
      code: 'InvalidResponse',
      message: expect.stringContaining('expected prefix [107 56 115 0]'),
    })
  })

  it.each([
    ['nothing', (bytes: Uint8Array) => bytes.subarray(0, 0), 'empty data'],
    ['half a message', (bytes: Uint8Array) => bytes.subarray(0, bytes.length / 2), 'not valid protobuf'],
    ['an unknown kind', (bytes: Uint8Array) => bytes.fill(0x78, 12, 13), 'unknown kind'],
  ])('is rejected with %s [P37]', async (_, change, message) => {
    const client = await respond(change)
    await expect(client.get(Namespace, 'default')).rejects.toMatchObject({
      code: 'InvalidResponse',
      message: expect.stringContaining(message),
    })
  })

  it('is accepted unchanged', async () => {
    const client = await respond((bytes) => bytes)
    expect(await client.get(Namespace, 'default')).toEqual(await text.get(Namespace, 'default'))
  })
})
