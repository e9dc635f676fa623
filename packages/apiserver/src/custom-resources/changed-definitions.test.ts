import { createFeatures, type JsonObject } from '@krmkit/meta'
import { afterEach, describe, expect, it } from 'vitest'
import type { ApiServerOptions } from '../server/options.ts'
import type { EmbeddedServer } from '../server/server.ts'
import { type Answer, administrator, requestOf, type SampleServer, sampleServer } from '../testing/sample-server.ts'
import { definitionsPath, eventually, widget, widgetDefinition } from './testing/widgets.ts'

const servers: EmbeddedServer[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

const widgets = '/apis/g.example.com/v1/namespaces/default/widgets'
const merge = { 'content-type': 'application/merge-patch+json' }

const schema = (properties: JsonObject, rest: JsonObject = {}): JsonObject => ({ type: 'object', properties, ...rest })

async function start(versions: readonly JsonObject[], options: Partial<ApiServerOptions> = {}): Promise<SampleServer> {
  const sample = await sampleServer(options)
  servers.push(sample.server)
  expect((await sample.ask(definitionsPath, { method: 'POST', body: widgetDefinition(versions) })).status).toBe(201)
  await eventually(
    () => sample.ask(widgets),
    ({ status }) => status === 200,
  )
  return sample
}

/** The events of a watch until its end, as `TYPE name`. */
async function watched(
  { server }: SampleServer,
  path = widgets,
): Promise<{ readonly received: string[]; readonly end: Promise<void> }> {
  const { body } = await server.handle(requestOf(`${path}?watch=true`, { user: administrator }))
  if (body.kind !== 'stream') throw new Error('no stream')
  const received: string[] = []
  const { stream } = body
  const end = (async () => {
    for await (const part of stream)
      for (const line of new TextDecoder().decode(part).trim().split('\n')) {
        const { type, object } = JSON.parse(line)
        received.push(`${type} ${object.metadata?.name ?? object.reason}`)
      }
  })()
  return { received, end }
}

describe('watches of custom resources', () => {
  const described = (properties: JsonObject) => ({ schema: { openAPIV3Schema: schema({ spec: schema(properties) }) } })
  const [text, free] = [described({ a: { type: 'string' } }), described({})]
  const two = [text, text]
  const named = (versions: readonly JsonObject[], spec?: JsonObject) => widgetDefinition(versions, spec)['spec'] as JsonObject
  const hook = { clientConfig: { url: 'https://hooks.example.com/c' }, conversionReviewVersions: ['v1'] }

  it.each<[string, JsonObject]>([
    ['schema', named([free, text])],
    [
      'storage version',
      named([
        { ...text, storage: false },
        { ...text, storage: true },
      ]),
    ],
    ['served versions', named([text, { ...text, served: false }])],
    ['versions', named([text])],
    ['conversion', named(two, { conversion: { strategy: 'Webhook', webhook: hook } })],
    ['short names', named(two, { names: { plural: 'widgets', kind: 'Widget', shortNames: ['w'] } })],
  ])('of all versions go on for a second when the %s changes, and then end', async (_, spec) => {
    const sample = await start(two)
    const { ask, clock } = sample
    const watches = [await watched(sample), await watched(sample, widgets.replace('/v1/', '/v2/'))]
    await ask(widgets, { method: 'POST', body: widget('before') })
    const timers = clock.pending
    await ask(`${definitionsPath}/widgets.g.example.com`, { method: 'PATCH', headers: merge, body: { spec } })
    await eventually(
      async () => clock.pending,
      (pending) => pending === timers + watches.length,
    )
    clock.advance(900)
    await ask(widgets, { method: 'POST', body: widget('after') })
    clock.advance(100)
    for (const { received, end } of watches) {
      await end
      expect(received).toEqual(['ADDED before', 'ADDED after'])
    }
  })

  it('continue when only the labels of the definition change', async () => {
    const sample = await start([{ schema: { openAPIV3Schema: schema({}) } }])
    const { ask, server } = sample
    const { received, end } = await watched(sample)
    await ask(`${definitionsPath}/widgets.g.example.com`, {
      method: 'PATCH',
      headers: merge,
      body: { metadata: { labels: { a: 'b' } } },
    })
    await ask(widgets, { method: 'POST', body: widget('one') })
    await eventually(
      () => ask(widgets),
      () => received.length === 1,
    )
    await server.close()
    await end
  })

  it('receive the deletion of instances before they end with the definition', async () => {
    const sample = await start([{ schema: { openAPIV3Schema: schema({}) } }])
    const { ask, clock } = sample
    await ask(widgets, { method: 'POST', body: widget('one') })
    const { received, end } = await watched(sample)
    await ask(`${definitionsPath}/widgets.g.example.com`, { method: 'DELETE' })
    await eventually(
      () => ask(`${definitionsPath}/widgets.g.example.com`),
      ({ status }) => status === 404,
    )
    clock.advance(1000)
    await end
    expect(received).toEqual(['ADDED one', 'DELETED one'])
  })
})

describe('a definition with an invalid CA bundle', () => {
  it('is established once the CA bundle is valid', async () => {
    const { ask, server } = await sampleServer()
    servers.push(server)
    const one = `${definitionsPath}/widgets.g.example.com`
    const conversion = (caBundle: string | null) => ({
      strategy: 'Webhook',
      webhook: { clientConfig: { url: 'https://hooks.example.com/c', caBundle }, conversionReviewVersions: ['v1'] },
    })
    const body = widgetDefinition([{ schema: { openAPIV3Schema: schema({}) } }], {
      conversion: conversion(btoa('nothing to read')),
    })
    expect((await ask(definitionsPath, { method: 'POST', body })).status).toBe(201)
    const condition = ({ json }: Answer) =>
      json.status.conditions?.find(({ type }: { type: string }) => type === 'Established') ?? {}
    const refused = await eventually(
      () => ask(one),
      (answer) => condition(answer).status !== undefined,
    )
    expect(condition(refused)).toMatchObject({ status: 'False', reason: 'InvalidCABundle' })
    await ask(one, { method: 'PATCH', headers: merge, body: { spec: { conversion: conversion(null) } } })
    await eventually(
      () => ask(one),
      (answer) => condition(answer).status === 'True',
    )
  })
})

describe('a definition without served versions', () => {
  it('deletes its instances when it is deleted', async () => {
    const { ask, server } = await start([{ schema: { openAPIV3Schema: schema({}) } }])
    await ask(widgets, { method: 'POST', body: widget('one') })
    const one = `${definitionsPath}/widgets.g.example.com`
    const body = { spec: { versions: [{ name: 'v1', served: false, storage: true, schema: { openAPIV3Schema: schema({}) } }] } }
    await ask(one, { method: 'PATCH', headers: merge, body })
    await ask(one, { method: 'DELETE' })
    await eventually(
      () => ask(one),
      ({ status }) => status === 404,
    )
    expect(server).toBeDefined()
  })
})

describe('instances', () => {
  it('are created and deleted in one namespace, and listed in all', async () => {
    const { ask } = await start([{ schema: { openAPIV3Schema: schema({}) } }])
    const everywhere = '/apis/g.example.com/v1/widgets'
    expect((await ask(everywhere)).status).toBe(200)
    for (const method of ['POST', 'DELETE']) {
      expect(await ask(everywhere, { method, body: widget('a') })).toMatchObject({ status: 404, text: '404 page not found\n' })
    }
  })

  it('have status errors with paths relative to the status', async () => {
    const described = schema({
      spec: schema({ n: { type: 'integer', maximum: 5 } }),
      status: schema({ n: { type: 'integer', maximum: 5 }, list: { type: 'array', maxItems: 1, items: { type: 'string' } } }),
    })
    const { ask } = await start([{ subresources: { status: {} }, schema: { openAPIV3Schema: described } }])
    await ask(widgets, { method: 'POST', body: widget('a') })
    const patch = (status: unknown) => ask(`${widgets}/a/status`, { method: 'PATCH', headers: merge, body: { status } })
    expect((await patch({ n: 9 })).json.details.causes).toEqual([
      {
        field: 'status.n',
        reason: 'FieldValueInvalid',
        message: 'Invalid value: 9: n in body should be less than or equal to 5',
      },
    ])
    expect((await patch('all of it')).json.details.causes[0].field).toBe('status')
    expect((await patch({ n: 4 })).status).toBe(200)
  })

  it('are selected by field values with current defaults', async () => {
    const version = (color: JsonObject) => ({
      name: 'v1',
      served: true,
      storage: true,
      selectableFields: [{ jsonPath: '.spec.color' }],
      schema: { openAPIV3Schema: schema({ spec: { ...schema({ color: { type: 'string', ...color } }), default: {} } }) },
    })
    const { ask } = await start([version({})])
    await ask(widgets, { method: 'POST', body: widget('old', { spec: {} }) })
    const selected = async (color: string) => {
      const { json } = await ask(`${widgets}?fieldSelector=spec.color%3D${color}`)
      return json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
    }
    expect(await selected('red')).toEqual([])
    const body = { spec: { versions: [version({ default: 'red' })] } }
    await ask(`${definitionsPath}/widgets.g.example.com`, { method: 'PATCH', headers: merge, body })
    await eventually(
      () => ask(`${widgets}/old`),
      ({ json }) => json.spec.color === 'red',
    )
    expect(await selected('red')).toEqual(['old'])
    expect(await selected('')).toEqual([])
  })

  it('are validated by transition rules on updates without changes', async () => {
    const rule = { rule: '!oldSelf.hasValue()', optionalOldSelf: true, message: 'only once' }
    const described = schema({ spec: schema({ a: { type: 'string', 'x-kubernetes-validations': [rule] } }) })
    const { ask } = await start([{ schema: { openAPIV3Schema: described } }])
    const body = widget('a', { spec: { a: 'x' } })
    expect((await ask(widgets, { method: 'POST', body })).status).toBe(201)
    const again = await ask(`${widgets}/a`, { method: 'PATCH', headers: merge, body: { spec: { a: 'x' } } })
    expect(again.status).toBe(422)
    expect(again.json.message).toContain('only once')
  })

  it('record the managers of spec.replicas in all versions', async () => {
    const scale = (specReplicasPath: string) => ({
      schema: { openAPIV3Schema: schema({ spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }) },
      subresources: { scale: { specReplicasPath, statusReplicasPath: '.status.replicas' } },
    })
    const { ask } = await start([scale('.spec.replicas'), scale('.spec.count')])
    const v2 = widgets.replace('/v1/', '/v2/')
    const created = { ...widget('a', { spec: { count: 1, replicas: 1 } }), apiVersion: 'g.example.com/v2' }
    await ask(`${v2}?fieldManager=maker`, { method: 'POST', body: created })
    await ask(`${widgets}/a/scale?fieldManager=scaler`, { method: 'PATCH', headers: merge, body: { spec: { replicas: 5 } } })
    const { json } = await ask(`${widgets}/a`)
    const owners = json.metadata.managedFields.map(({ manager, apiVersion, fieldsV1 }: Record<string, unknown>) => [
      manager,
      apiVersion,
      JSON.stringify(fieldsV1),
    ])
    expect(owners).toEqual([
      ['scaler', 'g.example.com/v1', '{"f:spec":{"f:replicas":{}}}'],
      ['maker', 'g.example.com/v2', '{"f:spec":{".":{},"f:replicas":{}}}'],
    ])
  })
})

describe('a default of a served version that the storage version does not have', () => {
  const members = (more: JsonObject = {}) => schema({ a: { type: 'string', default: 'A' }, c: { type: 'string', ...more } })
  const version = (name: string, more?: JsonObject): JsonObject => ({
    name,
    storage: name === 'v2',
    served: name === 'v1',
    subresources: { status: {} },
    schema: { openAPIV3Schema: schema({ spec: members(more), status: members(more) }) },
  })

  it('is applied to the part that a status update changes, and not to the rest', async () => {
    const { ask } = await start([version('v1'), version('v2')])
    const created = await ask(widgets, { method: 'POST', body: widget('one', { spec: {} }) })
    expect(created.json.spec).toEqual({ a: 'A' })
    await ask(`${widgets}/one/status`, { method: 'PUT', body: { ...created.json, status: {} } })
    const setDefaults = async (v1: JsonObject, v2: JsonObject, c: string | undefined) => {
      const body = { spec: { versions: [version('v1', v1), version('v2', v2)] } }
      await ask(`${definitionsPath}/widgets.g.example.com`, { method: 'PATCH', headers: merge, body })
      return eventually(
        () => ask(`${widgets}/one`),
        ({ json }) => json.spec?.c === c,
      )
    }
    await setDefaults({}, { default: 'C' }, 'C')
    await setDefaults({ default: 'C' }, { default: 'C' }, 'C')
    const read = await setDefaults({ default: 'C' }, {}, undefined)
    expect(read.json.spec).toEqual({ a: 'A' })
    const { json } = await ask(`${widgets}/one/status`, { method: 'PUT', body: read.json })
    expect({ spec: json.spec, status: json.status }).toEqual({ spec: { a: 'A' }, status: { a: 'A', c: 'C' } })
    const patched = await ask(`${widgets}/one/status`, { method: 'PATCH', headers: merge, body: { status: { a: 'B' } } })
    expect({ spec: patched.json.spec, status: patched.json.status }).toEqual({ spec: { a: 'A' }, status: { a: 'B', c: 'C' } })
  })
})

describe('owners after the schema has become stricter', () => {
  const f = (type: JsonObject) => [{ schema: { openAPIV3Schema: schema({ spec: schema({ f: type, o: { type: 'string' } }) }) } }]
  const text = { type: 'string' }
  const change = async ({ ask }: SampleServer, type: JsonObject) => {
    const versions = widgetDefinition(f(type))['spec'] as JsonObject
    const body = { spec: { versions: versions['versions'] as JsonObject } }
    await ask(`${definitionsPath}/widgets.g.example.com`, { method: 'PATCH', headers: merge, body })
  }
  const patch = ({ ask }: SampleServer, body: JsonObject) =>
    ask(`${widgets}/one?fieldManager=m`, { method: 'PATCH', headers: merge, body })
  const owners = ({ json }: Answer) => (json.metadata.managedFields ?? []).map(({ manager }: { manager: string }) => manager)

  it.each<[string, JsonObject, JsonObject]>([
    ['labels', { metadata: { labels: { a: 'b' } } }, { f: 'x' }],
    ['other members', { spec: { o: 'y' } }, { f: 'x', o: 'y' }],
    ['nothing', {}, { f: 'x' }],
  ])('are dropped by an update of %s where stored values have another type', async (_, body, spec) => {
    const sample = await start(f(text))
    await sample.ask(widgets, { method: 'POST', body: widget('one', { spec: { f: 'x' } }) })
    await change(sample, { type: 'integer' })
    const answer = await eventually(
      () => patch(sample, body),
      (each) => owners(each).length === 0,
    )
    expect([answer.status, answer.json.spec]).toEqual([200, spec])
    expect(owners(await sample.ask(`${widgets}/one`))).toEqual([])
  })

  it('are those before the update since 1.37', async () => {
    const sample = await start(f(text), { features: createFeatures('1.37') })
    await sample.ask(`${widgets}?fieldManager=c`, { method: 'POST', body: widget('one', { spec: { f: 'x' } }) })
    await change(sample, { type: 'integer' })
    const stricter = { method: 'POST', body: widget('two', { spec: { f: 'x' } }) }
    await eventually(
      () => sample.ask(widgets, stricter),
      ({ status }) => status === 422,
    )
    const { status, json } = await patch(sample, { spec: { o: 'y' } })
    expect([status, json.spec]).toEqual([200, { f: 'x', o: 'y' }])
    expect(json.metadata.managedFields).toMatchObject([{ manager: 'c', fieldsV1: { 'f:spec': { 'f:f': {} } } }])
  })

  it('are kept when the stored values match the schema', async () => {
    const sample = await start(f(text))
    await sample.ask(`${widgets}?fieldManager=c`, { method: 'POST', body: widget('one', { spec: { f: 'x' } }) })
    await change(sample, { ...text, maxLength: 3 })
    expect(owners(await patch(sample, { spec: { o: 'y' } }))).toEqual(['c', 'm'])
  })
})
