import type { JsonObject } from '@krmkit/meta'
import { memoryStorage, type Storage } from '@krmkit/storage'
import { afterEach, describe, expect, it } from 'vitest'
import { readBodyText } from '../aggregation/body-text.ts'
import { createApiServer, type EmbeddedServer } from '../server/server.ts'
import { definitionsPath, eventually, widget, widgetDefinition } from './testing/widgets.ts'

const servers: EmbeddedServer[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
  readonly body: any
}

type Call = (
  method: string,
  path: string,
  options?: { readonly body?: unknown; readonly headers?: Record<string, string>; readonly query?: string },
) => Promise<Answer>

async function start(storage: Storage = memoryStorage()): Promise<{ call: Call; server: EmbeddedServer }> {
  const server = await createApiServer({ storage })
  servers.push(server)
  const call: Call = async (method, path, { body, headers = {}, query = '' } = {}) => {
    const bytes = new TextEncoder().encode(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body))
    const response = await server.handle({
      method,
      path,
      query,
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body: async () => bytes,
      peer: {},
      signal: new AbortController().signal,
    })
    const text = response.body.kind === 'stream' ? '' : await readBodyText(response, Number.POSITIVE_INFINITY)
    return { status: response.status, headers: response.headers, text, body: text.startsWith('{') ? JSON.parse(text) : undefined }
  }
  return { call, server }
}

const widgets = '/apis/g.example.com/v1/namespaces/default/widgets'

const definition = (version: JsonObject = {}, spec: JsonObject = {}): JsonObject =>
  widgetDefinition([{ schema: { openAPIV3Schema: schema }, ...version }], {
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'] },
    ...spec,
  })

const schema: JsonObject = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: { a: { type: 'string' }, size: { type: 'integer', default: 1 }, replicas: { type: 'integer' } },
    },
    status: { type: 'object', properties: { replicas: { type: 'integer' }, phase: { type: 'string' } } },
  },
}

async function define(call: Call, body: JsonObject = definition()): Promise<void> {
  expect((await call('POST', definitionsPath, { body })).status).toBe(201)
  await eventually(
    () => call('GET', widgets),
    ({ status }) => status === 200,
  )
}

describe('custom resources', () => {
  it('serves a definition as soon as it is established', async () => {
    const { call } = await start()
    expect((await call('GET', widgets)).text).toBe('404 page not found\n')
    await define(call)
    const { body } = await call('GET', `${definitionsPath}/widgets.g.example.com`)
    expect(body.status.conditions.map(({ type, status, reason }: Record<string, string>) => [type, status, reason])).toEqual([
      ['NamesAccepted', 'True', 'NoConflicts'],
      ['Established', 'True', 'InitialNamesAccepted'],
    ])
    expect(body.status.acceptedNames).toEqual({
      plural: 'widgets',
      singular: 'widget',
      shortNames: ['wd'],
      kind: 'Widget',
      listKind: 'WidgetList',
    })
    const created = await call('POST', widgets, { body: widget('a', { spec: { a: 'x', b: 'y' } }) })
    expect(created.status).toBe(201)
    expect(created.headers.warning).toEqual(['299 - "unknown field \\"spec.b\\""'])
    expect(created.body.spec).toEqual({ a: 'x', size: 1 })
    expect((await call('GET', widgets)).text).toMatch(
      /^\{"apiVersion":"g.example.com\/v1","items":\[\{"apiVersion":"g.example.com\/v1","kind":"Widget",.*\],"kind":"WidgetList","metadata":\{/,
    )
  })

  it('shows Name and Age for a definition without columns [P33]', async () => {
    const { call } = await start()
    await define(call)
    await call('POST', widgets, { body: widget('a') })
    const { body } = await call('GET', widgets, { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } })
    expect(body.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual(['Name', 'Age'])
    expect(body.rows[0].cells[0]).toBe('a')
  })

  it('falls back to JSON for protobuf requests, and supports PartialObjectMetadata in protobuf [P191]', async () => {
    const { call } = await start()
    await define(call)
    await call('POST', widgets, { body: widget('a') })
    const get = (accept: string) => call('GET', `${widgets}/a`, { headers: { accept } })
    expect((await get('application/vnd.kubernetes.protobuf')).status).toBe(406)
    expect((await get('application/vnd.kubernetes.protobuf,application/json')).headers['content-type']).toBe('application/json')
    expect((await get('application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1')).status).toBe(200)
    const patch = await call('PATCH', `${widgets}/a`, {
      body: {},
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
    })
    expect(patch.status).toBe(415)
  })

  it('rejects instances that violate the schema [P201]', async () => {
    const { call } = await start()
    await define(call)
    const { status, body } = await call('POST', widgets, { body: widget('a', { spec: { size: 'large' } }) })
    expect(status).toBe(422)
    expect(body.details).toMatchObject({ group: 'g.example.com', kind: 'Widget', name: 'a' })
    expect(body.details.causes).toEqual([
      {
        field: 'spec.size',
        reason: 'FieldValueTypeInvalid',
        message: 'Invalid value: "string": spec.size in body must be of type integer: "string"',
      },
    ])
  })

  it('separates status and scale, and keeps the generation for both', async () => {
    const { call } = await start()
    const subresources = { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } }
    await define(call, definition({ subresources }))
    const created = await call('POST', widgets, { body: widget('a', { spec: { replicas: 2 }, status: { phase: 'x' } }) })
    expect(created.body).not.toHaveProperty('status')
    const merge = { 'content-type': 'application/merge-patch+json' }
    const status = await call('PATCH', `${widgets}/a/status`, {
      body: { spec: { a: 'no' }, status: { replicas: 1 } },
      headers: merge,
    })
    expect(status.body).toMatchObject({ metadata: { generation: 1 }, spec: { replicas: 2 }, status: { replicas: 1 } })
    expect(status.body.spec).not.toHaveProperty('a')
    const scale = await call('PATCH', `${widgets}/a/scale`, { body: { spec: { replicas: 5 } }, headers: merge })
    expect(scale.body).toMatchObject({ kind: 'Scale', spec: { replicas: 5 }, status: { replicas: 1 } })
    expect((await call('GET', `${widgets}/a`)).body).toMatchObject({ metadata: { generation: 2 }, spec: { replicas: 5 } })
  })

  it('drops all ownership when the part that a request cannot change has values of the wrong type, as on kube-apiserver', async () => {
    const { call } = await start()
    await define(call, definition({ subresources: { status: {} } }, { scope: 'Namespaced' }))
    const bad = await call('POST', widgets, { body: widget('a', { spec: { a: 'x' }, status: { phase: 1 } }) })
    expect([bad.status, bad.body.metadata.managedFields, bad.body.status]).toEqual([201, undefined, undefined])
    const good = await call('POST', widgets, { body: widget('b', { spec: { a: 'x' }, status: { phase: 'x' } }) })
    expect(good.body.metadata.managedFields).toHaveLength(1)
    const headers = { 'content-type': 'application/merge-patch+json' }
    const patched = await call('PATCH', `${widgets}/b/status`, { body: { spec: 1000 }, headers })
    expect([patched.status, patched.body.metadata.managedFields, patched.body.spec.a]).toEqual([200, undefined, 'x'])
    expect(patched.body.metadata.resourceVersion).not.toBe(good.body.metadata.resourceVersion)
  })

  it('answers a PUT or PATCH of a collection that the name is required', async () => {
    const { call } = await start()
    await define(call)
    const patch = (type: string) => call('PATCH', widgets, { body: {}, headers: { 'content-type': type, accept: 'image/png' } })
    const refused = [400, 'name must be provided']
    const answer = ({ status, body }: Answer) => [status, body.message]
    expect(answer(await patch('application/merge-patch+json'))).toEqual(refused)
    expect(answer(await call('PUT', widgets, { body: widget('a'), query: 'dryRun=No' }))).toEqual(refused)
    expect((await patch('text/plain')).status).toBe(415)
  })

  it('answers HEAD like GET, and names the resource when the method is unknown', async () => {
    const { call } = await start()
    await define(call)
    await call('POST', widgets, { body: widget('a') })
    expect((await call('HEAD', `${widgets}/a`)).status).toBe(200)
    expect((await call('HEAD', `${widgets}/b`)).status).toBe(404)
    expect((await call('HEAD', widgets)).status).toBe(200)
    const { body } = await call('TRACE', widgets)
    expect([body.message, body.details]).toEqual([
      ' is not supported on resources of kind "widgets.g.example.com"',
      { group: 'g.example.com', kind: 'widgets' },
    ])
  })

  it('gives the Scale of a cluster-scoped object no namespace', async () => {
    const { call } = await start()
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' }
    expect(
      (await call('POST', definitionsPath, { body: definition({ subresources: { scale } }, { scope: 'Cluster' }) })).status,
    ).toBe(201)
    const path = '/apis/g.example.com/v1/widgets'
    await eventually(
      () => call('GET', path),
      ({ status }) => status === 200,
    )
    const { metadata, ...object } = widget('a', { spec: { replicas: 2 } }) as JsonObject & { metadata: { name: string } }
    await call('POST', path, { body: { ...object, metadata: { name: metadata.name } } })
    const body = { kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 'a' }, spec: { replicas: 3 } }
    expect((await call('PUT', `${path}/a/scale`, { body })).body.metadata).not.toHaveProperty('namespace')
    // The Scale of a custom resource has no protobuf form, like the object itself.
    const accept = 'application/vnd.kubernetes.protobuf, application/json'
    expect((await call('GET', `${path}/a/scale`, { headers: { accept } })).headers['content-type']).toBe('application/json')
    expect((await call('GET', `${path}/a/scale`)).body.metadata).not.toHaveProperty('namespace')
  })

  it('treats lists without markers as atomic, and merges applied configurations [P226]', async () => {
    const { call } = await start()
    await define(call)
    const apply = (manager: string, spec: JsonObject) =>
      call('PATCH', `${widgets}/a`, {
        body: widget('a', { spec }),
        query: `fieldManager=${manager}`,
        headers: { 'content-type': 'application/apply-patch+yaml' },
      })
    expect((await apply('one', { a: 'x' })).status).toBe(201)
    expect((await apply('two', { size: 3 })).body.spec).toEqual({ a: 'x', size: 3 })
    expect((await apply('two', { a: 'y', size: 3 })).status).toBe(409)
    const refused = await apply('one', { a: null })
    expect([refused.status, refused.body.details.causes[0].reason]).toEqual([422, 'FieldValueTypeInvalid'])
  })

  it('follows definitions in discovery and OpenAPI', async () => {
    const { call } = await start()
    await define(call)
    expect((await call('GET', '/apis/g.example.com/v1')).body.resources.map(({ name }: { name: string }) => name)).toEqual([
      'widgets',
    ])
    expect(
      (await call('GET', '/openapi/v3/apis/g.example.com/v1')).body.components.schemas['com.example.g.v1.Widget'].properties.spec
        .properties.a,
    ).toEqual({ type: 'string' })
    await call('DELETE', `${definitionsPath}/widgets.g.example.com`)
    await eventually(
      () => call('GET', '/apis/g.example.com'),
      ({ status }) => status === 404,
    )
    expect((await call('GET', '/openapi/v3')).body.paths).not.toHaveProperty('apis/g.example.com/v1')
  })

  it('deletes instances before their definition, which waits for instances with finalizers', async () => {
    const { call } = await start()
    await define(call)
    await call('POST', widgets, { body: widget('free') })
    await call('POST', widgets, { body: { ...widget('held'), metadata: { name: 'held', finalizers: ['example.com/hold'] } } })
    await call('DELETE', `${definitionsPath}/widgets.g.example.com`)
    await eventually(
      () => call('GET', `${widgets}/free`),
      ({ status }) => status === 404,
    )
    const refused = await eventually(
      () => call('POST', widgets, { body: widget('late') }),
      ({ status }) => status !== 201,
    )
    expect(refused.body.message).toBe('create not allowed while custom resource definition is terminating')
    expect((await call('GET', `${definitionsPath}/widgets.g.example.com`)).status).toBe(200)
    await call('PATCH', `${widgets}/held`, {
      body: { metadata: { finalizers: null } },
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    await eventually(
      () => call('GET', `${definitionsPath}/widgets.g.example.com`),
      ({ status }) => status === 404,
    )
    expect((await call('GET', widgets)).text).toBe('404 page not found\n')
  })

  it('does not accept names of another definition in the group until that one is deleted', async () => {
    const { call } = await start()
    await define(call)
    const other = definition({}, { names: { plural: 'wads', kind: 'Wad', shortNames: ['wd'] } })
    await call('POST', definitionsPath, { body: { ...other, metadata: { name: 'wads.g.example.com' } } })
    const ask = () => call('GET', `${definitionsPath}/wads.g.example.com`)
    const conditionOf = ({ body }: Answer) =>
      body.status.conditions?.find(({ type }: { type: string }) => type === 'NamesAccepted')
    const conflict = await eventually(ask, (answer) => conditionOf(answer) !== undefined)
    expect(conditionOf(conflict)).toMatchObject({
      status: 'False',
      reason: 'ShortNamesConflict',
      message: '"wd" is already in use',
    })
    await call('DELETE', `${definitionsPath}/widgets.g.example.com`)
    await eventually(ask, (answer) => conditionOf(answer).status === 'True')
    await eventually(
      () => call('GET', '/apis/g.example.com/v1/namespaces/default/wads'),
      ({ status }) => status === 200,
    )
  })

  it('serves stored definitions from the start', async () => {
    const storage = memoryStorage()
    const { call } = await start(storage)
    await define(call)
    await call('POST', widgets, { body: widget('a') })
    const again = await start(storage)
    expect((await again.call('GET', `${widgets}/a`)).status).toBe(200)
  })

  it('reads stored objects by the current schema, in every version', async () => {
    const { call } = await start()
    await define(call)
    await call('POST', widgets, { body: widget('a', { spec: { a: 'x' } }) })
    const grown = structuredClone(schema) as { properties: { spec: { properties: JsonObject } } }
    grown.properties.spec.properties = { size: { type: 'integer' }, mark: { type: 'string', default: 'm' } }
    const versions = [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: grown as unknown as JsonObject } },
      { name: 'v2', served: true, storage: false, deprecated: true, schema: { openAPIV3Schema: schema } },
    ]
    await call('PATCH', `${definitionsPath}/widgets.g.example.com`, {
      body: { spec: { versions } },
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    const v2 = await eventually(
      () => call('GET', '/apis/g.example.com/v2/namespaces/default/widgets/a'),
      ({ status }) => status === 200,
    )
    expect(v2.body).toMatchObject({ apiVersion: 'g.example.com/v2', spec: { size: 1 } })
    expect(v2.headers.warning).toEqual(['299 - "g.example.com/v2 Widget is deprecated"'])
    expect((await call('GET', `${widgets}/a`)).body.spec).toEqual({ mark: 'm', size: 1 })
  })
})

describe('numbers beyond 64 bits in a YAML configuration', () => {
  it.each(['9223372036854775808', '18446744073709551615'])('stay numbers when %s is applied again', async (number) => {
    const { call } = await start()
    const open = { type: 'object', properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } }
    await call('POST', definitionsPath, { body: definition({ schema: { openAPIV3Schema: open } }) })
    await eventually(
      () => call('GET', widgets),
      ({ status }) => status === 200,
    )
    const body = `apiVersion: g.example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec:\n  v: ${number}\n`
    const headers = { 'content-type': 'application/apply-patch+yaml' }
    for (const status of [201, 200]) {
      const applied = await call('PATCH', `${widgets}/a`, { body, headers, query: 'fieldManager=m' })
      expect([applied.status, applied.body.spec]).toEqual([status, { v: Number(number) }])
      expect(applied.body.metadata.managedFields[0].fieldsV1).toEqual({ 'f:spec': { 'f:v': {} } })
    }
  })
})
