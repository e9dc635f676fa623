import type { ApiResponse } from '@krmkit/protocol'
import { loadCbor } from '@krmkit/schema/cbor'
import { createFeatureGates } from '@krmkit/versioning'
import { describe, expect, it } from 'vitest'
import { type Asking, administrator, requestOf, sampleServer } from '../testing/sample-server.ts'

const cbor = await loadCbor()
const features = createFeatureGates({ set: 'CBORServingAndStorage=true' })
const accept = { accept: 'application/cbor' }
const maps = '/api/v1/namespaces/default/configmaps'

async function bytesOf({ body }: ApiResponse): Promise<Uint8Array> {
  if (body.kind === 'bytes') return body.bytes
  if (body.kind === 'list') return Buffer.concat(body.parts.map((part) => (part instanceof Uint8Array ? part : part.bytes())))
  return new Uint8Array()
}

async function cborServer(options: Parameters<typeof sampleServer>[0] = { features }) {
  const { server } = await sampleServer(options)
  const ask = async (target: string, { bytes, ...asking }: Asking & { bytes?: Uint8Array } = {}) => {
    const request = requestOf(target, { user: administrator, ...asking })
    const response = await server.handle(bytes === undefined ? request : { ...request, body: async () => bytes })
    const type = String(response.headers['content-type'])
    const body = await bytesOf(response)
    // biome-ignore lint/suspicious/noExplicitAny: tests inspect arbitrary responses
    const value = (type === 'application/cbor' ? cbor.decode(body) : JSON.parse(new TextDecoder().decode(body))) as any
    return { status: response.status, type, value, body }
  }
  return { server, ask }
}

const configMap = (name: string, data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data })
const post = (value: object) => ({
  method: 'POST',
  headers: { ...accept, 'content-type': 'application/cbor' },
  bytes: cbor.encode(value),
})

describe('with the gate CBORServingAndStorage', () => {
  it('reads and writes objects in CBOR [P332]', async () => {
    const { ask } = await cborServer()
    const made = await ask(maps, post(configMap('a', { k: 'v' })))
    expect(made).toMatchObject({ status: 201, type: 'application/cbor', value: { kind: 'ConfigMap', data: { k: 'v' } } })
    expect(Buffer.from(made.body.subarray(0, 3)).toString('hex')).toBe('d9d9f7')
    expect((await ask(`${maps}/a`, { headers: accept })).value).toEqual(made.value)
    expect((await ask(`${maps}/a`)).value).toEqual(made.value)
  })

  it('serves resource lists in CBOR, but no other discovery document', async () => {
    const { ask } = await cborServer()
    const lists = ['/api/v1', '/apis/batch/v1'].map((path) => ask(path, { headers: accept }))
    for (const { status, value } of await Promise.all(lists)) expect([status, value.kind]).toEqual([200, 'APIResourceList'])
    for (const path of ['/api', '/apis', '/apis/batch']) expect((await ask(path, { headers: accept })).status, path).toBe(406)
  })

  it('lists the media types of CBOR in the OpenAPI documents [P332]', async () => {
    const { ask } = await cborServer()
    const { value } = await ask('/openapi/v3/apis/apps/v1')
    const collection = value.paths['/apis/apps/v1/namespaces/{namespace}/deployments']
    const { patch } = value.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']
    expect(Object.keys(collection.get.responses[200].content)).toEqual(
      expect.arrayContaining(['application/cbor', 'application/cbor-seq']),
    )
    expect(Object.keys(collection.post.responses[201].content)).not.toContain('application/cbor-seq')
    expect(Object.keys(patch.requestBody.content)).toContain('application/apply-patch+cbor')
  })

  it('tags binary values and accepts them in both forms', async () => {
    const { ask } = await cborServer()
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data: { a: 'aGVsbG8=' } }
    const made = await ask('/api/v1/namespaces/default/secrets', post(secret))
    expect(made.value.data).toEqual({ a: 'aGVsbG8=' })
    expect(Buffer.from(made.body).includes(Buffer.from('d64568656c6c6f', 'hex'))).toBe(true)
  })

  it('lists objects, Tables and metadata', async () => {
    const { ask } = await cborServer()
    for (let i = 0; i < 30; i++) await ask(maps, post(configMap(`m${i}`, { n: String(i) })))
    const { value } = await ask(maps, { headers: accept })
    expect(value).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: expect.any(String) } })
    expect(value.items).toHaveLength(30)
    expect(value.items[0]).toMatchObject({ metadata: { name: 'm0' }, data: { n: '0' } })
    expect(value.items[0]).not.toHaveProperty('kind')
    const table = await ask(`${maps}?limit=1`, { headers: { accept: 'application/cbor;as=Table;v=v1;g=meta.k8s.io' } })
    expect(table.value).toMatchObject({ kind: 'Table', rows: [{ cells: ['m0', 1, expect.anything()] }] })
    expect((await ask('/api/v1/namespaces/none/configmaps', { headers: accept })).value.items).toEqual([])
  })

  it('streams watches as a sequence of items', async () => {
    const { server, ask } = await cborServer()
    await ask(maps, post(configMap('a', { k: 'v' })))
    const stop = new AbortController()
    const { status, headers, body } = await server.handle(
      requestOf(`${maps}?watch=true`, { user: administrator, headers: accept, signal: stop.signal }),
    )
    expect([status, headers['content-type']]).toEqual([200, 'application/cbor-seq'])
    if (body.kind !== 'stream') throw new Error('no stream')
    for await (const frame of body.stream) {
      expect(cbor.decode(frame)).toMatchObject({ type: 'ADDED', object: { kind: 'ConfigMap', data: { k: 'v' } } })
      break
    }
    stop.abort()
  })

  it('applies configurations in CBOR', async () => {
    const { ask } = await cborServer()
    const applied = await ask(`${maps}/a?fieldManager=ci`, {
      method: 'PATCH',
      headers: { ...accept, 'content-type': 'application/apply-patch+cbor' },
      bytes: cbor.encode(configMap('a', { k: 'v' })),
    })
    expect(applied).toMatchObject({
      status: 201,
      value: { data: { k: 'v' }, metadata: { managedFields: [{ operation: 'Apply' }] } },
    })
  })

  it('sends errors in CBOR and lists the media types [P332]', async () => {
    const { ask } = await cborServer()
    expect(await ask(`${maps}/none`, { headers: accept })).toMatchObject({
      status: 404,
      type: 'application/cbor',
      value: { code: 404 },
    })
    const refused = await ask(maps, { headers: { accept: 'text/x' } })
    expect(refused.value.message).toBe(
      '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/cbor, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch, application/cbor-seq',
    )
    const unknown = await ask(maps, { method: 'POST', headers: { 'content-type': 'text/x' }, bytes: new Uint8Array(1) })
    expect(unknown.value.message).toContain('application/vnd.kubernetes.protobuf, application/cbor')
    const malformed = await ask(maps, { ...post({}), bytes: new TextEncoder().encode('abc') })
    expect(malformed.value.message).toBe(
      'the object provided is unrecognized (must be of type ConfigMap): unable to determine group/version/kind: cbor: 1 bytes of extraneous data starting at index 2 (616263)',
    )
    const strict = await ask(`${maps}?fieldValidation=Strict`, post({ ...configMap('b', {}), oops: 1 }))
    expect(strict.value.message).toContain('strict decoding error: unknown field "oops"')
  })
})

it('rejects CBOR without the gate [P332]', async () => {
  const { ask } = await cborServer({})
  expect((await ask(maps, { headers: accept })).status).toBe(406)
  expect((await ask(maps, { ...post(configMap('a', {})), headers: { 'content-type': 'application/cbor' } })).status).toBe(415)
  const patch = { method: 'PATCH', headers: { 'content-type': 'application/apply-patch+cbor' }, bytes: cbor.encode({}) }
  expect((await ask(`${maps}/a`, patch)).status).toBe(415)
})
